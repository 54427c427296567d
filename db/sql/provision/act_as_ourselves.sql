-- Ends acting as another role, for this transaction.
SELECT set_config('role', 'none', true)

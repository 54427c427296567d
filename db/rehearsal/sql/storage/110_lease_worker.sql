-- A worker's own leases. Needs ownership of rehearsal_lease.
CREATE INDEX idx_rehearsal_lease_worker ON rehearsal_lease (worker)

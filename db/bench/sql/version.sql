-- The server's version without what its packager adds. Costs nothing.
SELECT split_part(current_setting('server_version'), ' ', 1)

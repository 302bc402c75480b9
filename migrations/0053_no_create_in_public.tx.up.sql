-- A database that was made by PostgreSQL 14 or older lets every role create tables and functions in the schema public, also after an
-- upgrade: a function of another role there could be found in place of ours. Who migrates keeps the right. A role that does not own the
-- schema gets a warning, and nothing changes.
GRANT CREATE ON SCHEMA public TO CURRENT_USER;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- Who delivers the messages of which addresses at the moment (outbox.LeaseShards). A row appears with the first lease of its shard.
-- UNLOGGED: a lease is written every second and lasts for three, so that one which a crash of the database takes is not missed.
CREATE UNLOGGED TABLE outbox_shards (
    shard        int PRIMARY KEY CHECK (shard >= 0),
    owner        uuid, -- a run of the delivering activity; NULL: it has let go
    leased_until timestamptz NOT NULL,
    -- Whether the owner has taken it from one that had not let go, whose messages are still claimed.
    taken_over   bool NOT NULL DEFAULT false
);

-- A refund is found by what the gateway calls it, also while the gateway has not decided it. Not in one transaction: the index is made
-- beside the work on refunds, and the drop of one that is half made gives up after 3 s. It can be run again after a failure half-way.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    IF EXISTS (SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'refunds'::regclass AND NOT i.indisvalid AND c.relname = 'refunds_gateway_id') THEN
        DROP INDEX refunds_gateway_id;
    END IF;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_gateway_id ON refunds (gateway_refund_id) WHERE gateway_refund_id IS NOT NULL;

-- A notification in a transaction has its commit written after those of all others that have one: settlements waited for each other.
-- What moves money is announced after its commit, by the process that has committed it. Replicas of the version before still listen
-- on the channel, and hear what the new workers announce.
DROP TRIGGER payment_settled ON payment_transactions;
DROP TRIGGER refund_completed ON payment_transactions;
DROP FUNCTION announce_money();

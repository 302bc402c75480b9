-- An account whose email address had an invisible character in it could be registered, and its owner could not log in, reset the password
-- or be mailed. From now on the database refuses such an address. Not in one transaction: rows are put right one by one, and what locks
-- gives up after 3 s. All of it can be run again after a failure half-way.
CREATE OR REPLACE FUNCTION plain_address(email text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(email, '[\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f'
    '\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]', '', 'g');
--bun:split
-- The owner of an account gets it under the address as it looks. Where another account has that, the one that could not be logged in to gets
-- an address that belongs to no mailbox, with its id: docs/operations.md says how they are found.
DO $$ DECLARE
    one record;
BEGIN
    FOR one IN SELECT id, email, deleted_at FROM users WHERE email <> plain_address(email) ORDER BY id LOOP
        BEGIN
            UPDATE users SET email = plain_address(one.email), updated_at = now() WHERE id = one.id AND email = one.email;
        EXCEPTION WHEN unique_violation THEN
            UPDATE users SET email = one.id || '@unreachable.invalid', updated_at = now() WHERE id = one.id AND email = one.email;
            RAISE WARNING 'account % had the address of another account with an invisible character in it', one.id;
        END;
        COMMIT;
    END LOOP;
END $$;
--bun:split
UPDATE providers SET email = plain_address(email), updated_at = now() WHERE email <> plain_address(email);
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    ALTER TABLE users DROP CONSTRAINT IF EXISTS users_email_plain,
        ADD CONSTRAINT users_email_plain CHECK (email = plain_address(email)) NOT VALID;
END $$;
--bun:split
ALTER TABLE users VALIDATE CONSTRAINT users_email_plain;

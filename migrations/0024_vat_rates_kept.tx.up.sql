-- The VAT of a price is checked against its rate; a rate that could change together with it would pass.
CREATE FUNCTION refuse_vat_rate_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the VAT rate of % never changes', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER transactions_vat_rate_kept BEFORE UPDATE OF vat_rate ON payment_transactions
    FOR EACH ROW WHEN (OLD.vat_rate IS DISTINCT FROM NEW.vat_rate) EXECUTE FUNCTION refuse_vat_rate_change();
CREATE TRIGGER bookings_vat_rate_kept BEFORE UPDATE OF vat_rate ON bookings
    FOR EACH ROW WHEN (OLD.vat_rate IS DISTINCT FROM NEW.vat_rate) EXECUTE FUNCTION refuse_vat_rate_change();

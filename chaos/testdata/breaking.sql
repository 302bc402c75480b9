-- What no release may do: the release before reads this column, and cannot take a payment without it.
ALTER TABLE bookings RENAME COLUMN contact_email TO customer_email;

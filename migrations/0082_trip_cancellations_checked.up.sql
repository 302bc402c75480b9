-- The constraints of 0081, checked without a lock that keeps payments waiting.
ALTER TABLE trips VALIDATE CONSTRAINT trips_status_check;
--bun:split
ALTER TABLE ad_campaigns VALIDATE CONSTRAINT ad_campaigns_status_check;

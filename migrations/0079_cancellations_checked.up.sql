-- The constraints of 0078, checked without a lock that keeps payments waiting.
ALTER TABLE refunds VALIDATE CONSTRAINT refunds_bearer;
--bun:split
ALTER TABLE refunds VALIDATE CONSTRAINT refunds_cause;
--bun:split
ALTER TABLE refunds VALIDATE CONSTRAINT refunds_turned_manual;
--bun:split
ALTER TABLE refunds VALIDATE CONSTRAINT refunds_by_hand;
--bun:split
ALTER TABLE refunds VALIDATE CONSTRAINT refunds_sent_by_gateway;
--bun:split
ALTER TABLE refunds VALIDATE CONSTRAINT refunds_policy_reason_check;
--bun:split
ALTER TABLE financial_records VALIDATE CONSTRAINT financial_records_kind_check;
--bun:split
ALTER TABLE financial_records VALIDATE CONSTRAINT records_sign;

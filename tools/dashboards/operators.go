package main

func one(expr, legend string) []query { return []query{{expr, legend}} }

// operators is what the on-call engineer opens first: do customers get what they pay for, and what waits.
func operators() board {
	return board{
		uid: "rihla-operators", title: "Rihla: operators",
		about:    "Objectives, payments, webhooks, gateways and what waits. Each alert's page is in docs/operations.md.",
		sections: []section{objectives(), payments(), gateways(), waiting(), processes()},
	}
}

func objectives() section {
	return section{"Objectives", []panel{
		{
			"Burn rate, 1 hour", none, "1 uses up the budget of 30 days in 30 days; RihlaBudgetFast from 14.4.",
			one(`rihla:burn:rate1h`, "{{objective}}"),
		},
		{"Burn rate, 6 hours", none, "RihlaBudgetSlow from 6.", one(`rihla:burn:rate6h`, "{{objective}}")},
		{
			"Alerts that fire", none, "RihlaWatchdog always does.",
			one(`sum by (alertname) (ALERTS{alertstate="firing"})`, "{{alertname}}"),
		},
	}}
}

func payments() section {
	return section{"Payments", []panel{
		{"Attempts that ended", rate, "", one(`sum by (status) (rate(rihla_payments_settled_total[5m]))`, "{{status}}")},
		{"Webhook to PAID", seconds, "From the receipt of the webhook.", []query{
			{`histogram_quantile(0.5, sum by (le) (rate(rihla_webhook_settle_seconds_bucket[5m])))`, "median"},
			{`histogram_quantile(0.99, sum by (le) (rate(rihla_webhook_settle_seconds_bucket[5m])))`, "99 %"},
		}},
		{"Webhooks", rate, "", one(`sum by (channel, outcome) (rate(rihla_webhooks_total[5m]))`, "{{channel}} {{outcome}}")},
		{
			"Refunds that persons ordered, 1 hour", none, "",
			one(`sum by (role) (increase(rihla_refund_orders_total[1h]))`, "{{role}}"),
		},
		{
			"SAR of these refunds, 1 hour", none, "",
			one(`sum by (role) (increase(rihla_refunds_ordered_total[1h]))`, "{{role}}"),
		},
		{
			"Money in suspense", none, "",
			one(`max by (account, currency) (rihla_suspense_amount)`, "{{account}} {{currency}}"),
		},
	}}
}

func gateways() section {
	return section{"Gateways", []panel{
		{
			"Calls", rate, "",
			one(`sum by (gateway, outcome) (rate(rihla_gateway_call_duration_seconds_count[5m]))`, "{{gateway}} {{outcome}}"),
		},
		{
			"Duration of calls, 95 %", seconds, "",
			one(`histogram_quantile(0.95, sum by (le, gateway) (rate(rihla_gateway_call_duration_seconds_bucket[5m])))`, "{{gateway}}"),
		},
		{
			"Circuit", none, "0 closed, 1 half open, 2 open.",
			one(`max by (gateway, calls) (rihla_gateway_breaker_state)`, "{{gateway}} {{calls}}"),
		},
	}}
}

func waiting() section {
	return section{"What waits", []panel{
		{"Overdue", none, "", one(`max by (what) (rihla_overdue)`, "{{what}}")},
		{"Age of the oldest", seconds, "", one(`max by (what) (rihla_oldest_seconds)`, "{{what}}")},
		{"Open incidents", none, "", one(`max by (kind) (rihla_incidents_open)`, "{{kind}}")},
		{"Audit log without a seal", seconds, "", one(`max(rihla_audit_unsealed_seconds)`, "age")},
		{"WAL archive behind", seconds, "", one(`max(rihla_wal_archive_behind_seconds)`, "behind")},
		{"Age of the last backup", seconds, "", one(`min(rihla_backup_age_seconds)`, "age")},
	}}
}

func processes() section {
	return section{"API and processes", []panel{
		{"Answers", rate, "", one(`sum by (status) (rate(rihla_http_requests_total[5m]))`, "{{status}}")},
		{
			"Duration of answers, 95 %", seconds, "Without long polls and exports.",
			one(`histogram_quantile(0.95, sum by (le) (rate(rihla_http_request_duration_seconds_bucket{`+
				`route!~".*(payment-status|export|events)"}[5m])))`, "95 %"),
		},
		{
			"Waiting for connections to PostgreSQL", none, "Seconds a second.",
			one(`sum by (job) (rate(go_sql_wait_duration_seconds_total[5m]))`, "{{job}}"),
		},
		{"Payments under way, and the limit", none, "", []query{
			{`sum by (class) (rihla_admission_inflight)`, "{{class}}"}, {`sum by (class) (rihla_admission_limit)`, "{{class}} limit"},
		}},
		{"Releases that run", none, "", one(`count by (version, commit) (rihla_build_info)`, "{{version}} {{commit}}")},
		{"Memory", "bytes", "", one(`sum by (job) (process_resident_memory_bytes)`, "{{job}}")},
	}}
}

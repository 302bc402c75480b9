package main

// temporal is what the SDK of Temporal counts in API and workers.
func temporal() board {
	return board{
		uid: "rihla-temporal", title: "Rihla: Temporal", about: "Tasks, slots, workflows, activities and requests, as the SDK counts them.",
		sections: []section{tasks(), workflows(), requests()},
	}
}

func quantile(name, by string) string {
	return `histogram_quantile(0.95, sum by (le, ` + by + `) (rate(temporal_` + name + `_seconds_bucket[5m])))`
}

func perSecond(name, by string) string {
	return `sum by (` + by + `) (rate(temporal_` + name + `_total[5m]))`
}

func tasks() section {
	return section{"Tasks and slots", []panel{
		{
			"Workflow tasks: wait for a worker, 95 %", seconds, "",
			one(quantile("workflow_task_schedule_to_start_latency", "task_queue"), "{{task_queue}}"),
		},
		{
			"Activities: wait for a worker, 95 %", seconds, "",
			one(quantile("activity_schedule_to_start_latency", "task_queue"), "{{task_queue}}"),
		},
		{
			"Slots left", none, "Of the worker that has most.",
			one(`max by (task_queue, worker_type) (temporal_worker_task_slots_available)`, "{{task_queue}} {{worker_type}}"),
		},
		{
			"Slots used", none, "",
			one(`sum by (task_queue, worker_type) (temporal_worker_task_slots_used)`, "{{task_queue}} {{worker_type}}"),
		},
		{
			"Pollers", none, "",
			one(`sum by (task_queue, poller_type) (temporal_num_pollers)`, "{{task_queue}} {{poller_type}}"),
		},
		{
			"Histories that do not replay", none, "",
			one(`sum by (workflow_type) (increase(temporal_workflow_task_execution_failed_total{`+
				`failure_reason="NonDeterminismError"}[30m]))`, "{{workflow_type}}"),
		},
	}}
}

func workflows() section {
	return section{"Workflows and activities", []panel{
		{"Workflows completed", rate, "", one(perSecond("workflow_completed", "workflow_type"), "{{workflow_type}}")},
		{
			"Workflows, from start to end, 95 %", seconds, "",
			one(quantile("workflow_endtoend_latency", "workflow_type"), "{{workflow_type}}"),
		},
		{
			"Workflow tasks: time, 95 %", seconds, "",
			one(quantile("workflow_task_execution_latency", "workflow_type"), "{{workflow_type}}"),
		},
		{
			"Activities: time, 95 %", seconds, "",
			one(quantile("activity_execution_latency", "activity_type"), "{{activity_type}}"),
		},
		{
			"Local activities: time, 95 %", seconds, "",
			one(quantile("local_activity_execution_latency", "activity_type"), "{{activity_type}}"),
		},
		{"Workflows in memory", none, "", one(`sum by (job) (temporal_sticky_cache_size)`, "{{job}}")},
	}}
}

func requests() section {
	return section{"Requests to Temporal", []panel{
		{"Requests", rate, "", one(perSecond("request", "operation"), "{{operation}}")},
		{"Duration, 95 %", seconds, "", one(quantile("request_latency", "operation"), "{{operation}}")},
		{
			"Refused or unanswered", rate, "",
			one(perSecond("request_failure", "operation, status_code"), "{{operation}} {{status_code}}"),
		},
	}}
}

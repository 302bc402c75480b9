package seed

// What only tests call from outside.
var (
	PrepareBulk = prepareBulk
	ExecAll     = execAll
)

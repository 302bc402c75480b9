package schedule

import "time"

// FaultKind is what breaks.
type FaultKind string

// Kill is kill -9, with a start again after Fault.For; Restart asks the process to end, as a deployment does; Freeze
// stops it from running for a while (SIGSTOP), as a machine that is out of memory does.
const (
	Kill        FaultKind = "kill -9"
	Restart     FaultKind = "restart"
	Freeze      FaultKind = "freeze"
	CutGateway  FaultKind = "gateway cut off"
	SlowGateway FaultKind = "gateway slow"
	Misbehaves  FaultKind = "gateway misbehaves"
	// RefuseGateway is of schedules with a backup account: there is no listener at the first one's port.
	RefuseGateway FaultKind = "gateway refuses connections"
	// BreakConnections ends every session of the service at the database, wherever it is in its transaction.
	BreakConnections FaultKind = "database connections broken"
	// StallDatabase locks the payments, so that everything about them waits.
	StallDatabase FaultKind = "database stalled"
	// ClockWrong puts the clock of a process forward or back, and right again later.
	ClockWrong FaultKind = "clock wrong"
	// ClockOverMidnight puts the clock of workers on another day in Riyadh: before the last midnight, or after the next.
	ClockOverMidnight FaultKind = "clock over midnight"
	// Replace is of schedules of an upgrade: a process ends and comes back as another release.
	Replace FaultKind = "replace"
)

// Release is what a process is built from.
type Release string

// The releases: this is what the harness is built from.
const (
	LastRelease Release = "the last release"
	ThisRelease Release = "this version"
)

// Trigger is a moment at which a kill is sharper than at any time by the clock: between an effect and the word of it.
type Trigger string

// The triggers. Before: the gateway has been asked and has done nothing yet. After: it has done it and has not answered.
const (
	BeforeCheckout Trigger = "before a checkout is made"
	AfterCheckout  Trigger = "after a checkout is made"
	BeforeRefund   Trigger = "before a refund is made"
	AfterRefund    Trigger = "after a refund is made"
	BeforeWebhook  Trigger = "before a webhook is passed on"
	AfterWebhook   Trigger = "after a webhook is answered"
	AfterAsking    Trigger = "after the gateway was asked what became of it"
	AfterCancel    Trigger = "after a checkout is cancelled"
	// BeforeOrder is of Temporal alone, which is away then while refunds are ordered.
	BeforeOrder Trigger = "before a refund is ordered"
)

// Part is a process of the environment.
type Part string

// The parts; two that stand together are killed in the same moment.
const (
	API0     Part = "API 1"
	API1     Part = "API 2"
	Worker0  Part = "worker 1"
	Worker1  Part = "worker 2"
	Temporal Part = "Temporal"
	Postgres Part = "PostgreSQL"
)

// Fault is one failure and its end.
type Fault struct {
	At    time.Duration
	Kind  FaultKind
	Parts []Part        // of Kill, Restart, Freeze and the clocks
	For   time.Duration // how long it lasts
	Delay time.Duration // of every answer, of SlowGateway
	Shift time.Duration // of ClockWrong, or of ClockOverMidnight beyond the midnight; negative: it is slow
	Order *GatewayFault // of Misbehaves
	// On is what a Kill waits for from At on, as long as the run's lastMoment; "": nothing, it comes at At.
	On Trigger
	// Release is that of what a Replace starts; Hard ends what was there as kill -9 does.
	Release Release
	Hard    bool
}

// GatewayFault is a body of POST /sandbox/faults.
type GatewayFault struct {
	Operation string `json:"operation"`
	Mode      string `json:"mode"`
	Times     int    `json:"times"`
	DelayMS   int    `json:"delay_ms,omitempty"`
	Outcome   string `json:"outcome,omitempty"`
}

var faultKinds = []weighted[FaultKind]{
	{36, Kill},
	{6, Restart},
	{8, Freeze},
	{7, CutGateway},
	{5, SlowGateway},
	{44, Misbehaves},
	{4, BreakConnections},
	{4, StallDatabase},
	{8, ClockWrong},
	{5, ClockOverMidnight},
}

var triggers = []weighted[Trigger]{
	{3, BeforeCheckout},
	{4, AfterCheckout},
	{4, BeforeRefund},
	{6, AfterRefund},
	{3, BeforeWebhook},
	{5, AfterWebhook},
	{3, AfterAsking},
	{2, AfterCancel},
	{5, BeforeOrder},
}

var victims = []weighted[[]Part]{
	{5, []Part{API0}},
	{5, []Part{API1}},
	{5, []Part{Worker0}},
	{5, []Part{Worker1}},
	{3, []Part{API0, API1}},
	{4, []Part{Worker0, Worker1}},
	{3, []Part{API0, Worker0}},
	{6, []Part{Temporal}},
	{6, []Part{Postgres}},
	{1, []Part{Temporal, Postgres}},
	{2, []Part{Postgres, Worker0, Worker1}},
	{2, []Part{Temporal, API0, API1}},
	{2, []Part{API0, API1, Worker0, Worker1, Temporal, Postgres}},
}

var processes = []weighted[[]Part]{
	{2, []Part{API0}}, {2, []Part{API1}}, {2, []Part{Worker0}}, {2, []Part{Worker1}}, {1, []Part{Worker0, Worker1}},
}

// A clock that is hours wrong is for workers: an API with one takes no token and no webhook, and that is all.
var workers = []weighted[[]Part]{{2, []Part{Worker0}}, {2, []Part{Worker1}}, {2, []Part{Worker0, Worker1}}}

const (
	longestOutage = 2 * time.Second
	longestDelay  = 900 * time.Millisecond
	maxTimes      = 3
	// A process that is frozen for so long has lost what it held: its key to another request (6 s), its activity to another
	// worker (3 s). It goes on as if nothing had been.
	shortestLoss = 3500 * time.Millisecond
	longestLoss  = 7500 * time.Millisecond
	// A database that stalls for longer than an activity may take has it tried again.
	longestStall = 6 * time.Second
	// A hold is seconds here and half an hour in life: what is two seconds here is minutes there.
	shortestShift = 100 * time.Millisecond
	longestShift  = 2 * time.Second
	longestWrong  = 4 * time.Second
)

func (d draw) fault() Fault {
	f := Fault{At: d.moment(), Kind: oneOf(d, faultKinds), For: d.pause(shortestPause, longestOutage)}

	switch f.Kind {
	case Kill:
		f.Parts = oneOf(d, victims)

		if d.chance(50) {
			f.On = oneOf(d, triggers)
		}

		if f.On == BeforeOrder {
			f.Parts = []Part{Temporal}
		}
	case Restart:
		f.Parts = oneOf(d, processes)
	case Freeze:
		f.Parts = oneOf(d, processes)

		if d.chance(30) {
			f.For = d.pause(shortestLoss, longestLoss)
		}
	case BreakConnections:
		f.For = 0
	case StallDatabase:
		f.For = d.pause(shortestPause, longestStall)
	case ClockWrong:
		f.Parts = oneOf(d, processes)
		f.Shift = d.pause(shortestShift, longestShift)
		f.For = d.pause(shortestPause, longestWrong)

		if d.chance(50) {
			f.Shift = -f.Shift
		}
	case ClockOverMidnight:
		f.Parts = oneOf(d, workers)
		f.Shift = d.pause(shortestShift, longestShift)
		f.For = d.pause(shortestPause, longestWrong)

		if d.chance(50) {
			f.Shift = -f.Shift
		}
	case CutGateway, RefuseGateway, Replace: // for as long as it lasts
	case SlowGateway:
		f.Delay = d.pause(shortestPause, longestDelay)
	case Misbehaves:
		f.Order = d.gatewayFault()
		f.For = 0
	}

	return f
}

var gatewayFaults = []weighted[GatewayFault]{
	{3, GatewayFault{Operation: "create_checkout", Mode: "error"}},
	{2, GatewayFault{Operation: "create_checkout", Mode: "timeout"}},
	{3, GatewayFault{Operation: "create_checkout", Mode: "timeout_after_effect"}},
	{2, GatewayFault{Operation: "create_checkout", Mode: "slow"}},
	{1, GatewayFault{Operation: "create_checkout", Mode: "reject"}},
	{3, GatewayFault{Operation: "refund", Mode: "error"}},
	{2, GatewayFault{Operation: "refund", Mode: "timeout"}},
	{4, GatewayFault{Operation: "refund", Mode: "timeout_after_effect"}},
	{2, GatewayFault{Operation: "refund", Mode: "slow"}},
	{2, GatewayFault{Operation: "create_checkout", Mode: "conflict"}},
	{2, GatewayFault{Operation: "cancel", Mode: "conflict"}},
	{4, GatewayFault{Operation: "refund", Mode: "conflict"}},
	{4, GatewayFault{Operation: "status", Mode: "find_lag"}},
	{2, GatewayFault{Operation: "refund", Mode: "reject"}},
	{3, GatewayFault{Operation: "refund", Mode: "pending", Outcome: "succeed"}},
	{2, GatewayFault{Operation: "refund", Mode: "pending", Outcome: "fail"}},
	{2, GatewayFault{Operation: "status", Mode: "error"}},
	{1, GatewayFault{Operation: "status", Mode: "timeout"}},
	{2, GatewayFault{Operation: "status", Mode: "slow"}},
	{2, GatewayFault{Operation: "cancel", Mode: "error"}},
	{2, GatewayFault{Operation: "cancel", Mode: "timeout_after_effect"}},
	{1, GatewayFault{Operation: "cancel", Mode: "reject"}},
	{3, GatewayFault{Operation: "webhook", Mode: "error"}},
	{3, GatewayFault{Operation: "webhook", Mode: "timeout_after_effect"}},
	{14, GatewayFault{Operation: "webhook", Mode: "drop"}},
	{4, GatewayFault{Operation: "webhook", Mode: "duplicate"}},
	{4, GatewayFault{Operation: "webhook", Mode: "reorder"}},
	{3, GatewayFault{Operation: "webhook", Mode: "slow"}},
	{2, GatewayFault{Operation: "webhook", Mode: "wrong_amount"}},
	{2, GatewayFault{Operation: "webhook", Mode: "wrong_currency"}},
}

// gatewayFault hits the next few calls of its operation, from any caller.
func (d draw) gatewayFault() *GatewayFault {
	f := oneOf(d, gatewayFaults)
	f.Times = d.between(1, maxTimes)

	switch f.Mode {
	case "slow", "reorder", "pending", "conflict", "find_lag":
		f.DelayMS = int(d.pause(shortestPause, longestOutage).Milliseconds())
	case "timeout": // each holds a caller up for as long as it waits for the gateway
		f.Times = 1
	}

	return &f
}

package contract

// LimitClass is an operation's x-limit: whose requests are counted together.
type LimitClass string

// The classes of the document.
const (
	LimitNone      LimitClass = "none"
	LimitAnonymous LimitClass = "anonymous"
	LimitByRole    LimitClass = "by-role"
	LimitWebhook   LimitClass = "webhook"
	LimitLogin     LimitClass = "login"
	LimitMedia     LimitClass = "media"
)

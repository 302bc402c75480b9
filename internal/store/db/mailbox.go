package db

// MailboxSQL is the SQL of an email address as one mailbox: in small letters, without what stands behind a plus sign. What is counted per
// mailbox has an index on it (migrations 0048, 0072 and 0073).
func MailboxSQL(address string) string {
	return `regexp_replace(lower(` + address + `), '^([^@+]+)[+][^@]*@', '\1@')`
}

package audit

import (
	"database/sql"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// logRow is an entry in a file, by column; a column that is NULL is not there.
type logRow map[string]string

// rowOf takes a line apart. Details stay the text that they are, which the digest covers.
func rowOf(line map[string]json.RawMessage) (logRow, error) {
	row := logRow{}

	for name, raw := range line {
		var text string

		switch {
		case string(raw) == "null":
			continue
		case name != "details" && raw[0] == '"':
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, err
			}
		default:
			text = string(raw)
		}

		row[name] = text
	}

	return row, nil
}

func rowOfCells(header, cells []string) logRow {
	row := logRow{}

	for i, cell := range cells {
		if cell != "" {
			row[header[i]] = cell
		}

		if slices.Contains(guarded, header[i]) {
			row[header[i]] = withoutGuards(cell)
		}
	}

	return row
}

// missingColumn is one without which a file proves nothing.
func missingColumn(header []string) string {
	for _, name := range []string{"id", "digest", "seal", "seal_position", "seal_entries", "seal_previous", "seal_hash"} {
		if !slices.Contains(header, name) {
			return name
		}
	}

	return ""
}

// guarded are the columns that a client or operator has a say in; a CSV has no lines or tabs within their cells.
var (
	guarded   = []string{"operator", "address", "user_agent", "request_id", "details"}
	onOneLine = strings.NewReplacer("\r", " ", "\n", " ", "\t", " ")
)

// The apostrophes that keep a cell of a CSV from being run as a formula, in front and after a semicolon: one more than was written.
var (
	guardAhead = regexp.MustCompile(`^'('*[\s\v\x{85}\p{Z}]*[-=+@＝＋－＠])`)
	guardAfter = regexp.MustCompile(`;'('*[\s\v\x{85}\p{Z}"]*[-=+@＝＋－＠])`)
)

func withoutGuards(cell string) string {
	return guardAfter.ReplaceAllString(guardAhead.ReplaceAllString(cell, "$1"), ";$1")
}

// digestsOf are those that an entry may have: of its fields, and of none in place of its origin where that is the one in its details. So
// it is shown for log-ins that predate the origin of entries. written is how the file writes a text.
func digestsOf(r logRow, written func(string) string) []string {
	may := []string{r.digest(r["address"], r["user_agent"])}

	if action := r["action"]; action != "LOGGED_IN" && action != "LOGIN_FAILED" {
		return may
	}

	var of struct {
		Address   string `json:"address"`
		UserAgent string `json:"user_agent"`
	}

	if err := json.Unmarshal([]byte(r["details"]), &of); err != nil {
		return may
	}

	if r["address"] == written(of.Address) && r["user_agent"] == written(of.UserAgent) {
		may = append(may, r.digest("", ""))
	}

	return may
}

func (r logRow) digest(address, agent string) string {
	return entryDigest(r["id"], []sql.NullString{
		text(r.micros("created_at")), r.id("actor_id"), text(r["actor_role"]), text(r["operator"]), text(r["action"]), text(r["entity"]),
		r.id("entity_id"), text(address), text(agent), text(r["request_id"]), text(r["details"]),
	})
}

func (r logRow) id(column string) sql.NullString {
	value, there := r[column]

	return sql.NullString{String: value, Valid: there}
}

// micros are microseconds since 1970; what is no time makes a hash that is none.
func (r logRow) micros(column string) string {
	moment, err := time.Parse(time.RFC3339Nano, r[column])
	if err != nil {
		return r[column]
	}

	return strconv.FormatInt(moment.UnixMicro(), 10)
}

func (r logRow) number(column string) int64 {
	n, err := strconv.ParseInt(r[column], 10, 64)
	if err != nil {
		return 0
	}

	return n
}

// sealOf is what an entry says of its seal.
func sealOf(r logRow) fileSeal {
	moment := func(column string) int64 {
		n, err := strconv.ParseInt(r.micros(column), 10, 64)
		if err != nil {
			return 0
		}

		return n
	}

	_, noted := r["seal_noted_at"]

	return fileSeal{size: r.number("seal_entries"), logSeal: logSeal{
		number: r.number("seal"), previous: r["seal_previous"], hash: r["seal_hash"], since: moment("seal_since"), until: moment("seal_until"),
		notedAt: sql.NullInt64{Int64: moment("seal_noted_at"), Valid: noted}, sealedAt: moment("seal_sealed_at"),
	}}
}

package audit

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// LogFile is what CheckLogFile has read.
type LogFile struct {
	Entries, Unsealed int64
	Unproven          int64   // of those under no seal: without a digest
	Seals             int64   // whose hash was computed from their entries
	Parts             int64   // seals of which the file has some entries only
	First             int64   // number of the first seal in the file; those before it may be archived
	Last              LogSeal // the last one in the file
	Newest            LogSeal // the one that the file's end names; JSON lines have one
	HasSeal           bool    // the one that was asked for was computed from all of its entries, and has that hash
	Differences       int
}

// LogFileOptions say what a file is held against.
type LogFileOptions struct {
	// Partial files were exported with filters, and lack entries of their seals: what is there is checked, and the hashes of whole seals.
	Partial bool
	// PastWaits files were exported while entries from before there were seals still waited for theirs: these have no digest.
	PastWaits bool
	Seal      LogSeal // one that was noted elsewhere; the zero value for none
}

// logFile checks a file while it is read.
type logFile struct {
	LogFile
	LogFileOptions
	found func(Difference) error

	last, seal fileSeal // the one before, and the one whose entries are read
	position   int64    // of the last entry read
	noted      bool     // a seal over entries that were noted as they were written has been read: those from before are all sealed
}

// fileSeal is a seal as its entries in a file tell of it.
type fileSeal struct {
	logSeal
	size         int64    // entries that it says to have
	ids, digests []string // of those in the file
}

// CheckLogFile computes the digests and seals of an exported audit log anew, from the file alone, whether it is CSV or JSON lines. What
// is wrong with it goes to found. One who can write the file can make all of its hashes anew, too: a seal noted elsewhere shows that.
func CheckLogFile(r io.Reader, o LogFileOptions, found func(Difference) error) (LogFile, error) {
	f := &logFile{LogFileOptions: o, found: found}
	b := bufio.NewReader(r)

	start, err := b.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return f.LogFile, err
	}

	if bytes.Equal(start, []byte("{")) {
		err = f.readLines(b)
	} else {
		err = f.readCSV(b)
	}

	if err == nil {
		err = f.endSeal()
	}

	if err == nil {
		err = f.checkNewest()
	}

	// A digest alone can be made anew with its entry.
	if err == nil && f.Entries > 0 && f.Seals+f.Parts == 0 {
		err = f.differs("log-file", "file", "entries", "none is under a seal, so nothing shows that they are what was written")
	}

	return f.LogFile, err
}

// checkNewest holds the last seal against the one that the end of the file names. Others may have been made since that was read.
func (f *logFile) checkNewest() error {
	id := strconv.FormatInt(f.Newest.Number, 10)

	switch {
	case f.Newest.Number == f.Last.Number && f.Newest.Hash != f.Last.Hash:
		return f.differs("log-chain", "seal", id, "its hash is not the one that the end of the file names")
	case f.Newest.Number > f.Last.Number && !f.Partial:
		return f.differs("log-chain", "seal", id, fmt.Sprintf("is the newest one, and the last one in the file is %d", f.Last.Number))
	}

	return nil
}

func (f *logFile) differs(rule, subject, id, what string) error {
	f.Differences++

	return f.found(Difference{rule, subject, id, what})
}

// readLines reads JSON lines, whose last one is about the export.
func (f *logFile) readLines(r io.Reader) error {
	d := json.NewDecoder(r)

	for d.More() {
		var line map[string]json.RawMessage
		if err := d.Decode(&line); err != nil {
			return fmt.Errorf("entry %d: %w", f.Entries+1, err)
		}

		if end, is := line["export"]; is {
			return f.readEnd(d, end)
		}

		row, err := rowOf(line)
		if err != nil {
			return fmt.Errorf("entry %d: %w", f.Entries+1, err)
		}

		if err := f.entry(row, digestsOf(row, func(text string) string { return text })); err != nil {
			return err
		}
	}

	return f.differs("log-file", "file", "end", "the last line is missing: the export was cut off")
}

func (f *logFile) readEnd(d *json.Decoder, end json.RawMessage) error {
	var of struct {
		Rows       int64 `json:"rows"`
		NewestSeal *struct {
			Number int64  `json:"number"`
			Hash   string `json:"hash"`
		} `json:"newest_seal"`
	}

	if err := json.Unmarshal(end, &of); err != nil {
		return fmt.Errorf("the last line: %w", err)
	}

	if of.NewestSeal != nil {
		f.Newest = LogSeal{of.NewestSeal.Number, of.NewestSeal.Hash}
	}

	if of.Rows != f.Entries {
		return f.differs("log-file", "file", "end", fmt.Sprintf("the export had %d entries, and the file has %d", of.Rows, f.Entries))
	}

	if d.More() {
		return f.differs("log-file", "file", "end", "there is more after the last line")
	}

	return nil
}

func (f *logFile) readCSV(r *bufio.Reader) error {
	if mark, err := r.Peek(3); err == nil && string(mark) == "\ufeff" {
		if _, err := r.Discard(len(mark)); err != nil {
			return err
		}
	}

	lines := csv.NewReader(r)

	header, err := lines.Read()
	if err != nil {
		return fmt.Errorf("the header row: %w", err)
	}

	if missing := missingColumn(header); missing != "" {
		return fmt.Errorf("the file has no column %s: it is no export of the audit log. What `rihla archive` has written is held against "+
			"archived_months and audit_seals (docs/archive.md)", missing)
	}

	for {
		cells, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return fmt.Errorf("entry %d: %w", f.Entries+1, err)
		}

		row := rowOfCells(header, cells)
		if err := f.entry(row, digestsOf(row, onOneLine.Replace)); err != nil {
			return err
		}
	}
}

// entry takes the next entry, whose digest must be one of those that were computed.
func (f *logFile) entry(r logRow, may []string) error {
	f.Entries++

	if err := f.checkDigest(r, may); err != nil {
		return err
	}

	s := sealOf(r)

	switch {
	case s.number != f.seal.number:
		if err := f.beginSeal(s); err != nil {
			return err
		}
	case s.number > 0 && (s.logSeal != f.seal.logSeal || s.size != f.seal.size):
		if err := f.differs("log-chain", "entry", r["id"], "says something else of its seal than the one before"); err != nil {
			return err
		}
	}

	if s.number == 0 {
		f.Unsealed++

		return nil
	}

	return f.place(r)
}

// beginSeal ends the seal before; none follows on entries under no seal.
func (f *logFile) beginSeal(s fileSeal) error {
	if err := f.endSeal(); err != nil {
		return err
	}

	f.seal, f.position, f.noted = s, 0, f.noted || s.notedAt.Valid

	if s.number == 0 || f.Unsealed == 0 {
		return nil
	}

	return f.differs("log-chain", "seal", strconv.FormatInt(s.number, 10), "comes after entries under no seal, which are the last ones")
}

// checkDigest holds an entry against the digest that it has. One without a digest may be what was written, or not: nothing tells.
func (f *logFile) checkDigest(r logRow, may []string) error {
	var what string

	switch digest := r["digest"]; {
	case digest != "" && !slices.Contains(may, digest):
		what = "is not what it was when it was written"
	case digest == "" && (!f.PastWaits || f.noted || r["seal"] != ""): // entries from before there were seals are sealed first
		what = "has no digest"
	case digest == "":
		f.Unproven++

		return nil
	default:
		return nil
	}

	return f.differs("log-entries", "entry", r["id"], what+" (line "+strconv.FormatInt(f.Entries, 10)+")")
}

// place holds an entry against the one before it in the seal.
func (f *logFile) place(r logRow) error {
	at := r.number("seal_position")

	f.seal.ids, f.seal.digests = append(f.seal.ids, r["id"]), append(f.seal.digests, r["digest"])

	before := f.position
	f.position = at

	switch {
	case at <= before:
		return f.differs("log-chain", "entry", r["id"], fmt.Sprintf("is at place %d of seal %d, behind place %d", at, f.seal.number, before))
	case at > before+1 && !f.Partial:
		return f.differs("log-chain", "seal", strconv.FormatInt(f.seal.number, 10),
			fmt.Sprintf("entries %d to %d are missing", before+1, at-1))
	}

	return nil
}

// endSeal looks at the seal whose entries have been read, and at what it follows on.
func (f *logFile) endSeal() error {
	s := f.seal
	if s.number == 0 {
		return nil
	}

	var (
		what  []string
		whole bool
	)

	if int64(len(s.ids)) >= s.size {
		f.Seals++

		s.entries, s.logSeal.digests = strings.Join(s.ids, " "), strings.Join(s.digests, " ")

		hash := s.computed()
		if whole = hash == s.hash; !whole {
			what = append(what, fmt.Sprintf("its hash is %s, that of what it covers is %s", s.hash, hash))
		}
	} else {
		f.Parts++

		if !f.Partial && f.position < s.size {
			what = append(what, fmt.Sprintf("entries %d to %d are missing", f.position+1, s.size))
		}
	}

	if f.last.number == 0 {
		f.First = s.number
	}

	if last := f.last; last.number > 0 {
		switch {
		case s.number <= last.number:
			what = append(what, fmt.Sprintf("comes after seal %d", last.number))
		case s.number > last.number+1 && !f.Partial:
			what = append(what, fmt.Sprintf("follows on seal %d: others are missing", last.number))
		case s.number == last.number+1 && s.previous != last.hash:
			what = append(what, fmt.Sprintf("follows on the hash %s, and the seal before has %s", s.previous, last.hash))
		}
	}

	f.last, f.Last = s, LogSeal{s.number, s.hash}
	f.HasSeal = f.HasSeal || whole && f.Last == f.Seal

	for _, w := range what {
		if err := f.differs("log-chain", "seal", strconv.FormatInt(s.number, 10), w); err != nil {
			return err
		}
	}

	return nil
}

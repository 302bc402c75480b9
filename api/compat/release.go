package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// version is major, minor, patch.
type version [3]int

func parseVersion(text string) (version, error) {
	var v version

	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return v, fmt.Errorf("version %q is not MAJOR.MINOR.PATCH", text)
	}

	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, fmt.Errorf("version %q is not MAJOR.MINOR.PATCH", text)
		}

		v[i] = n
	}

	return v, nil
}

// names of the parts of a version.
const (
	major = iota
	minor
	patch
)

// atLeast says that v has moved on from the older one by the given part or by one before it.
func (v version) atLeast(part int, older version) bool {
	for i := range part + 1 {
		if v[i] != older[i] {
			return v[i] > older[i]
		}
	}

	return false
}

// judgeRelease holds info.version and the changelog to what has changed: nothing breaks without a new major version, an
// addition is a minor one, other words are a patch. The version that was released has its day in the changelog.
func (r *report) judgeRelease(same bool, changelog string) {
	before, err := parseVersion(r.releasedVersion)
	if err != nil {
		r.faultf("released: %s", err)

		return
	}

	after, err := parseVersion(r.version)
	if err != nil {
		r.faultf("%s", err)

		return
	}

	r.newMajor = after.atLeast(major, before)

	if entry, found := changelogEntry(changelog, r.releasedVersion); !found || !dated.MatchString(entry.heading) {
		r.faultf("the changelog has no dated entry for the released version: ## [%s] - YYYY-MM-DD", r.releasedVersion)
	}

	if same && before == after {
		return
	}

	part, why := patch, "other words"

	switch {
	case r.count(breaking) > 0:
		part, why = major, "breaking changes"
	case r.count(addition) > 0:
		part, why = minor, "additions"
	}

	// A breaking change that lacks a new major version is reported with the change itself.
	if part != major && !after.atLeast(part, before) {
		r.faultf("info.version is %s: %s after %s need %s", r.version, why, r.releasedVersion, before.next(part))
	}

	if entry, found := changelogEntry(changelog, r.version); !found || !strings.Contains(entry.body, "\n- ") {
		r.faultf("the changelog has no entry for %s: a heading ## [%s] with what has changed below it", r.version, r.version)
	}
}

func (r *report) faultf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (v version) next(part int) string {
	v[part]++
	for i := part + 1; i < len(v); i++ {
		v[i] = 0
	}

	return fmt.Sprintf("%d.%d.%d", v[major], v[minor], v[patch])
}

var dated = regexp.MustCompile(`\] - \d{4}-\d{2}-\d{2}$`)

// entry is a section of the changelog.
type entry struct {
	heading, body string
}

func changelogEntry(changelog, version string) (entry, bool) {
	for _, section := range strings.Split("\n"+changelog, "\n## ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		if strings.HasPrefix(heading, "["+version+"]") {
			return entry{strings.TrimSpace(heading), "\n" + body}, true
		}
	}

	return entry{}, false
}

// sameButVersion says that the documents differ in nothing else, words included.
func sameButVersion(before, after *openapi3.T) (bool, error) {
	texts := [2]string{}

	for i, doc := range []*openapi3.T{before, after} {
		info := *doc.Info
		info.Version = ""

		copied := *doc
		copied.Info = &info

		text, err := json.Marshal(&copied)
		if err != nil {
			return false, fmt.Errorf("write the document as JSON: %w", err)
		}

		texts[i] = string(text)
	}

	return texts[0] == texts[1], nil
}

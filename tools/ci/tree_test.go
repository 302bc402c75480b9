package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// newRepository is a repository with a module of two packages, of which one imports the other, committed.
func newRepository(t *testing.T) string {
	t.Helper()

	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	for name, text := range map[string]string{
		"go.mod": "module rihla\n\ngo 1.26\n", "go.sum": "", "notes.txt": "notes\n", "README.md": "read me\n",
		"low/low.go": "package low\n\n// N is a number.\nconst N = 1\n", "low/low_test.go": test("low", ""),
		"high/high.go":      "package high\n\nimport \"rihla/low\"\n\n// N is a number.\nconst N = low.N\n",
		"high/high_test.go": test("high", `os.ReadFile("../notes.txt"); os.ReadDir("../other")`),
		"other/other.go":    "package other\n",
	} {
		write(t, filepath.Join(root, name), text)
	}

	git(t, root, "init", "-q")
	git(t, root, "add", ".")
	git(t, root, "-c", "user.name=Test", "-c", "user.email=test@rihla.test", "commit", "-qm", "first")

	return root
}

func test(pkg, statement string) string {
	if statement == "" {
		return "package " + pkg + "\n\nimport \"testing\"\n\nfunc TestN(t *testing.T) {}\n"
	}

	return "package " + pkg + "\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestN(t *testing.T) { " + statement + " }\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, root string, args ...string) {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = root

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func newTestWorld(t *testing.T, root, cache string) *World {
	t.Helper()

	w, err := NewWorld(context.Background(), root, cache)
	if err != nil {
		t.Fatal(err)
	}

	return w
}

func TestMatches(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name     string
		patterns []string
		in       bool
	}{
		{"a/b/c.go", []string{"a/"}, true},
		{"ab/c.go", []string{"a/"}, false},
		{"a/b/c.go", []string{"**/*.go"}, true},
		{"c.go", []string{"**/*.go"}, true},
		{"a/b/c.go", []string{"**/*.go", "!a/b/"}, false},
		{"a/b/c.go", []string{"!a/b/", "**/*.go"}, false},
		{"a/c.go", []string{"*.go"}, false},
		{"a/c.go", []string{"a/*"}, true},
		{"a/b/c.go", []string{"a/*"}, false},
		{"a/b", nil, false},
	} {
		if got := matches(tt.patterns, tt.name); got != tt.in {
			t.Errorf("%v matches %s: %t", tt.patterns, tt.name, got)
		}
	}
}

// What a key depends on is the content of the unit's files, committed or not, and nothing else.
func TestKeysFollowContent(t *testing.T) {
	t.Parallel()

	root, cache := newRepository(t), t.TempDir()
	key := func(dir string) string {
		w := newTestWorld(t, root, cache)

		units, err := w.testUnits([]string{dir}, nil, "")
		if err != nil {
			t.Fatal(err)
		}

		return w.Key("race", units[0])
	}

	low, high := key("./low"), key("./high")

	write(t, filepath.Join(root, "high/high_test.go"), test("high", "os.Getwd()"))

	if key("./low") != low {
		t.Error("low does not depend on high")
	}

	changed := key("./high")
	if changed == high {
		t.Error("a test has changed")
	}

	git(t, root, "-c", "user.name=Test", "-c", "user.email=test@rihla.test", "commit", "-qam", "second")

	if key("./high") != changed {
		t.Error("committing changes no content")
	}

	write(t, filepath.Join(root, "low/low.go"), "package low\n\n// N is a number.\nconst N = 2\n")

	if key("./low") == low || key("./high") == changed {
		t.Error("both are built from low")
	}

	write(t, filepath.Join(root, "low/testdata/case.txt"), "a case that is not committed\n")

	if before := key("./high"); before != key("./high") || key("./low") == low {
		t.Error("files below a package belong to its test alone")
	}

	git(t, root, "checkout", "-q", "--", ".")

	if err := os.RemoveAll(filepath.Join(root, "low/testdata")); err != nil {
		t.Fatal(err)
	}

	if key("./low") != low || key("./high") != changed {
		t.Error("all is as it was committed")
	}
}

func TestProofsEnd(t *testing.T) {
	t.Parallel()

	p, now := Proofs{Dir: t.TempDir()}, time.Now()
	if err := p.Save("lint", "key", Proof{Commit: "abc", At: now}); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		lane, key string
		at        time.Time
		counts    bool
	}{
		{"lint", "key", now.Add(6 * 24 * time.Hour), true},
		{"lint", "key", now.Add(8 * 24 * time.Hour), false},
		{"lint", "other", now, false},
		{"vet", "key", now, false},
	} {
		proof, err := p.Find(tt.lane, tt.key, tt.at)
		if err != nil || (proof != nil) != tt.counts {
			t.Errorf("%s %s at %s: %v, %v", tt.lane, tt.key, tt.at, proof, err)
		}
	}
}

func TestTwoAreDrawn(t *testing.T) {
	t.Parallel()

	for n := 3; n < 30; n++ {
		for _, commit := range []string{"0000000000000000", "ffffffffffffffff", "4c061bd74c061bd8", "5de8613b18707777"} {
			drawn := drawTwo(commit, n)
			if drawn[0] == drawn[1] || slices.Min(drawn) < 0 || slices.Max(drawn) >= n {
				t.Errorf("of %d: %v", n, drawn)
			}
		}
	}
}

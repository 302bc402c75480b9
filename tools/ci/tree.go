package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is the content of a work tree: of each file that git tracks or would add, a digest of what it is now.
type Tree struct {
	Root string
	// Head is the commit, with a "+" when the work tree differs from it.
	Head string
	// Commit is the whole hash of the commit.
	Commit string

	files map[string]string // path with slashes, relative to Root → mode and object
	paths []string          // of files, sorted
}

// ReadTree reads the work tree at root. An uncommitted change counts as it will when it is committed.
func ReadTree(ctx context.Context, root string) (*Tree, error) {
	t := &Tree{Root: root, files: map[string]string{}}

	head, err := t.git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}

	t.Commit = strings.TrimSpace(head)
	t.Head = t.Commit[:12]

	staged, err := t.git(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}

	for entry := range strings.SplitSeq(staged, "\x00") {
		if about, name, found := strings.Cut(entry, "\t"); found {
			fields := strings.Fields(about) // mode, object, stage
			t.files[name] = fields[0] + " " + fields[1]
		}
	}

	if err := t.readChanges(ctx); err != nil {
		return nil, err
	}

	for name := range t.files {
		t.paths = append(t.paths, name)
	}

	slices.Sort(t.paths)

	return t, nil
}

// readChanges replaces what the index has of a file by what the work tree has.
func (t *Tree) readChanges(ctx context.Context) error {
	changed, err := t.git(ctx, "ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")
	if err != nil {
		return err
	}

	for name := range strings.SplitSeq(changed, "\x00") {
		if name == "" {
			continue
		}

		info, err := os.Stat(filepath.Join(t.Root, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			delete(t.files, name)

			continue
		}

		if err != nil {
			return err
		}

		object, err := t.git(ctx, "hash-object", "--", name)
		if err != nil {
			return err
		}

		mode := "100644"
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}

		t.files[name] = mode + " " + strings.TrimSpace(object)
	}

	status, err := t.git(ctx, "status", "--porcelain")
	if err == nil && status != "" {
		t.Head += "+"
	}

	return err
}

// Select lists the paths that match a pattern and no pattern that begins with "!", sorted. A pattern is a file, a directory with a
// slash at its end for all that is below it, or "**/" and a pattern of names.
func (t *Tree) Select(patterns []string) []string {
	var found []string

	for _, name := range t.paths {
		if matches(patterns, name) {
			found = append(found, name)
		}
	}

	return found
}

func matches(patterns []string, name string) bool {
	in := false

	for _, pattern := range patterns {
		pattern, not := strings.CutPrefix(pattern, "!")

		switch ok := matchesOne(pattern, name); {
		case ok && not:
			return false
		case ok:
			in = true
		}
	}

	return in
}

func matchesOne(pattern, name string) bool {
	switch base, deep := strings.CutPrefix(pattern, "**/"); {
	case deep:
		ok, _ := path.Match(base, path.Base(name))

		return ok
	case strings.HasSuffix(pattern, "/"):
		return strings.HasPrefix(name, pattern)
	default:
		ok, _ := path.Match(pattern, name)

		return ok
	}
}

// ChangedSince lists the paths that differ between a commit and the work tree; all of them where the commit is not known here.
func (t *Tree) ChangedSince(ctx context.Context, commit string) []string {
	if commit == "" {
		return t.paths
	}

	names, err := t.git(ctx, "diff", "--name-only", "-z", commit)
	if err != nil {
		return t.paths
	}

	return strings.Split(strings.TrimSuffix(names, "\x00"), "\x00")
}

// Read returns the text of a file.
func (t *Tree) Read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(name)))

	return string(text), err
}

func (t *Tree) git(ctx context.Context, args ...string) (string, error) {
	return output(ctx, t.Root, "git", args...)
}

// output runs a program and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // programs and arguments of ours
	cmd.Dir = dir

	var complaint bytes.Buffer

	cmd.Stderr = &complaint

	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, complaint.Bytes())
	}

	return string(out), nil
}

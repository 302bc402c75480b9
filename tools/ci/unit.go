package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// proofDays is how long a pass counts.
const proofDays = 7

// Unit is the smallest part of a lane that is proven by itself: a package of tests, a fuzz target, or the whole lane.
type Unit struct {
	Name string
	// Files are what its outcome depends on, by their paths in the tree.
	Files []string
	// Without are patterns of files that are left out of Files on purpose: the outcome does not depend on them.
	Without []string
	// Salt is what it depends on beside: versions, a command, a day.
	Salt string
	// Own are the files whose change has a unit run that would be skipped.
	Own []string
	// Skipped leaves it out of a run although it was not proven: its lane takes only what has changed and what the commit draws.
	Skipped bool
}

// Key names the content of everything that a unit depends on.
func (w *World) Key(lane string, u Unit) string {
	h := sha256.New()
	fmt.Fprintln(h, lane, u.Name, w.GoVersion, u.Salt)

	for _, name := range u.Files {
		fmt.Fprintln(h, name, w.Tree.files[name])
	}

	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Proof is the record of a pass.
type Proof struct {
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
}

// Proofs keeps records of passes in a directory of the user's cache: what passed on this machine is not run again.
type Proofs struct{ Dir string }

// Find is the proof of a key; nil when there is none that still counts.
func (p Proofs) Find(lane, key string, now time.Time) (*Proof, error) {
	text, err := os.ReadFile(p.path(lane, key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no proof is an answer
	}

	if err != nil {
		return nil, err
	}

	proof := &Proof{}
	if err := json.Unmarshal(text, proof); err != nil {
		return nil, fmt.Errorf("proof %s: %w", p.path(lane, key), err)
	}

	if now.Sub(proof.At) > proofDays*24*time.Hour {
		return nil, nil //nolint:nilnil // likewise
	}

	return proof, nil
}

// Save records a pass.
func (p Proofs) Save(lane, key string, proof Proof) error {
	text, err := json.Marshal(proof)
	if err != nil {
		return err
	}

	path := p.path(lane, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // nothing of it is secret
		return err
	}

	return os.WriteFile(path, text, 0o644) //nolint:gosec // likewise
}

// Forget deletes records that are too old to count.
func (p Proofs) Forget(now time.Time) error {
	return filepath.WalkDir(p.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}

			return err
		}

		if info, err := d.Info(); err == nil && now.Sub(info.ModTime()) > proofDays*24*time.Hour {
			return os.Remove(path) //nolint:gosec // of the user's own cache
		}

		return nil
	})
}

func (p Proofs) path(lane, key string) string {
	return filepath.Join(p.Dir, lane, key+".json")
}

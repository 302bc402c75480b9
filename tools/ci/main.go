// Command ci runs everything that must hold before a change lands. It is divided into named lanes with declared inputs: a lane whose
// inputs have passed on this machine within a week is not run again.
//
//	ci            the lanes that are not proven
//	ci all        each of them, proven or not
//	ci LANE...    these, proven or not
//	ci list       the lanes, and which are proven
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == noteOpened {
		fmt.Fprintln(os.Stderr, noteWhatIsOpened(os.Args[2], os.Args[3], os.Args[4:]))
		os.Exit(1)
	}

	if len(os.Args) > 3 && os.Args[1] == unlessProven {
		if err := runUnlessProven(os.Args[2], os.Args[3], os.Args[4:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}

		return
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])

	stop()

	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	root, err := output(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}

	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}

	w, err := NewWorld(ctx, root[:len(root)-1], filepath.Join(cache, "rihla-ci"))
	if err != nil {
		return err
	}

	chosen := lanes()

	switch {
	case len(args) == 0:
	case args[0] == "all":
		w.All = true
	case args[0] == "list":
		return printLanes(ctx, w, chosen)
	default:
		w.All = true

		for _, name := range args {
			if !slices.ContainsFunc(chosen, func(l Lane) bool { return l.Name == name }) {
				return fmt.Errorf("there is no lane %q; `.ci/run list` names them", name)
			}
		}

		chosen = slices.DeleteFunc(chosen, func(l Lane) bool { return !slices.Contains(args, l.Name) })
	}

	began := time.Now()

	if err := w.Proofs.Forget(began); err != nil {
		return err
	}

	if err := runLanes(ctx, w, chosen); err != nil {
		return err
	}

	fmt.Fprintf(os.Stdout, "all checks passed in %.0f s\n", time.Since(began).Seconds())

	return nil
}

// printLanes prints the lanes, and how much of each is proven.
func printLanes(ctx context.Context, w *World, all []Lane) error {
	var failed error

	for _, l := range all {
		p, err := w.plan(ctx, l)
		if err != nil {
			failed = errors.Join(failed, err)

			continue
		}

		fmt.Fprintf(os.Stdout, "%-16s %s\n%-16s %s\n", l.Name, l.About, "", p.state())
	}

	return failed
}

// Command image builds the image of the service without a daemon: the production build for each architecture on nothing else, with a
// bill of materials. The same commit gives the same digest, wherever it is built.
//
//	go -C tools/image run . build              an OCI layout in .data/image
//	go -C tools/image run . push REPOSITORY    the layout to a registry, under the version and the commit
//	go -C tools/image run . unpack DIR         its files for this machine, to look at and to run
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

var errUsage = errors.New("usage: image [--root DIR] [--layout DIR] build | push REPOSITORY | unpack DIR")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	root := flags.String("root", "../..", "the repository")
	dir := flags.String("layout", "../../.data/image", "the OCI layout")

	if err := flags.Parse(args); err != nil {
		return err
	}

	switch args = flags.Args(); {
	case len(args) == 1 && args[0] == "build":
		return build(ctx, *root, *dir, out)
	case len(args) == 2 && args[0] == "push":
		return push(ctx, *dir, args[1], out)
	case len(args) == 2 && args[0] == "unpack":
		return unpack(*dir, args[1])
	default:
		return errUsage
	}
}

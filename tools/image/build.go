package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// architectures are those of the image, in the order of its index.
var architectures = []string{"amd64", "arm64"}

// build writes the image's layout: its index first, then a bill of materials for each architecture, which refers to the architecture's
// image.
func build(ctx context.Context, root, dir string, out io.Writer) error {
	src, err := sourceOf(ctx, root)
	if err != nil {
		return err
	}

	work, err := os.MkdirTemp("", "rihla-image-*")
	if err != nil {
		return err
	}

	return errors.Join(buildIn(ctx, src, work, dir, out), os.RemoveAll(work))
}

func buildIn(ctx context.Context, src source, work, dir string, out io.Writer) error {
	src, err := src.cloned(ctx, filepath.Join(work, "source"))
	if err != nil {
		return err
	}

	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	bills := make([]v1.Image, 0, len(architectures))

	for _, arch := range architectures {
		img, bill, err := one(ctx, src, arch, filepath.Join(work, arch), out)
		if err != nil {
			return err
		}

		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
		bills = append(bills, bill)
	}

	index = mutate.Annotations(index, src.labels()).(v1.ImageIndex)

	return write(dir, index, bills, out)
}

// one builds an architecture's program, its image and its bill of materials.
func one(ctx context.Context, src source, arch, program string, out io.Writer) (img, bill v1.Image, err error) {
	if err := src.compile(ctx, arch, program); err != nil {
		return nil, nil, fmt.Errorf("build for %s: %w", arch, err)
	}

	if img, err = imageOf(src, arch, program); err != nil {
		return nil, nil, err
	}

	if bill, err = billOf(src, program, img); err != nil {
		return nil, nil, fmt.Errorf("bill of materials: %w", err)
	}

	size, err := sizeOf(img)
	fmt.Fprintf(out, "%s: %d bytes compressed\n", arch, size)

	return img, bill, err
}

func sizeOf(img v1.Image) (int64, error) {
	layers, err := img.Layers()
	if err != nil {
		return 0, err
	}

	var sum int64

	for _, l := range layers {
		size, err := l.Size()
		if err != nil {
			return 0, err
		}

		sum += size
	}

	return sum, nil
}

// write replaces the layout.
func write(dir string, index v1.ImageIndex, bills []v1.Image, out io.Writer) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}

	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}

	if err := path.AppendIndex(index); err != nil {
		return err
	}

	for _, bill := range bills {
		if err := path.AppendImage(bill); err != nil {
			return err
		}
	}

	digest, err := index.Digest()
	fmt.Fprintln(out, digest)

	return err
}

package main

import (
	"bytes"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/rs/zerolog"
)

// billType is the media type of a bill of materials.
const billType = "application/vnd.cyclonedx+json"

// billOf lists what the program was built from, in CycloneDX, as an artifact that refers to the image: registries find it by that.
func billOf(src source, program string, img v1.Image) (v1.Image, error) {
	generator, err := bin.NewGenerator(program, bin.WithIncludeStdlib(true), bin.WithVersionOverride("v"+src.version),
		bin.WithLogger(zerolog.Nop()))
	if err != nil {
		return nil, err
	}

	list, err := generator.Generate()
	if err != nil {
		return nil, err
	}

	list.Metadata.Timestamp = src.time.Format(time.RFC3339)

	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(list); err != nil {
		return nil, err
	}

	subject, err := partial.Descriptor(img)
	if err != nil {
		return nil, err
	}

	bill := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), billType)

	bill, err = mutate.Append(bill, mutate.Addendum{Layer: static.NewLayer(text.Bytes(), billType), MediaType: billType})
	if err != nil {
		return nil, err
	}

	return mutate.Subject(bill, *subject).(v1.Image), nil
}

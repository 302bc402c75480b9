package codec

import (
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// Install has a client encrypt everything that it sends and decrypt what it reads; the messages of errors, too, which
// otherwise stand beside payloads in plain text.
func (c *Codec) Install(o *client.Options) {
	o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
	o.FailureConverter = newFailures(o.DataConverter, c.newest != "")
}

// failures is the SDK's converter of errors, made to bind what it encrypts to a workflow as the data converter does.
type failures struct {
	converter.FailureConverter

	data    converter.DataConverter
	encrypt bool
}

func newFailures(data converter.DataConverter, encrypt bool) failures {
	return failures{data: data, encrypt: encrypt, FailureConverter: temporal.NewDefaultFailureConverter(
		temporal.DefaultFailureConverterOptions{DataConverter: data, EncodeCommonAttributes: encrypt})}
}

// WithSerializationContext implements converter.FailureConverterWithSerializationContext.
func (f failures) WithSerializationContext(sc converter.SerializationContext) converter.FailureConverter {
	return newFailures(converter.WithDataConverterSerializationContext(f.data, sc), f.encrypt)
}

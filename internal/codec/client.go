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
	o.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: o.DataConverter, EncodeCommonAttributes: c.newest != "",
	})
}

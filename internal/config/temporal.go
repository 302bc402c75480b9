package config

import (
	"rihla/internal/codec"
)

// RequireCodec says what is missing or weak for the codec server. open is whether others than this machine reach it.
func (c Config) RequireCodec(open bool) error {
	var p problems

	if len(c.Temporal.CodecKeys) == 0 {
		p.addf("TEMPORAL_CODEC_KEYS is missing (the same as that of api and worker)")
	}

	switch token := c.Temporal.CodecToken; {
	case token.IsSet() && (len(token) < minAPIKey || isMonotonous([]byte(token))):
		p.addf("TEMPORAL_CODEC_TOKEN is weak (at least %d random characters are needed)", minAPIKey)
	case open && !token.IsSet():
		p.addf("TEMPORAL_CODEC_TOKEN is missing, and --listen is not an address of this machine only")
	}

	return p.err()
}

// checkCodecKeys accepts none, or keys that are well formed and strong.
func checkCodecKeys(p *problems, keys Secrets) {
	if _, err := codec.ParseKeys(keys.Reveal()); err != nil {
		p.addf("TEMPORAL_CODEC_KEYS %v", err)
	}
}

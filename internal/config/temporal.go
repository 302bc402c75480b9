package config

import (
	"regexp"

	"rihla/internal/codec"
)

// The forms that Temporal takes for the name of a Worker Deployment, and for one of its versions; it joins the two by a colon.
var (
	deploymentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_@/-]{0,99}$`)
	buildID        = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$`)
)

func (c Config) checkVersioning(p *problems) {
	if !deploymentName.MatchString(c.Temporal.DeploymentName) {
		p.addf("TEMPORAL_DEPLOYMENT_NAME must be up to 100 letters, digits, hyphens and underscores")
	}

	if c.Temporal.BuildID == "" {
		return
	}

	if !buildID.MatchString(c.Temporal.BuildID) {
		name := "TEMPORAL_BUILD_ID"
		if c.Temporal.BuildID == c.Temporal.WorkerBuildID {
			name = "TEMPORAL_WORKER_BUILD_ID"
		}

		p.addf("%s must be up to 100 letters, digits, dots, hyphens and underscores", name)
	}

	// The controller would wait for ever for a version that no worker has.
	if c.Temporal.WorkerBuildID != "" && c.Temporal.BuildID != c.Temporal.WorkerBuildID {
		p.addf("TEMPORAL_BUILD_ID is not TEMPORAL_WORKER_BUILD_ID, which Temporal's worker controller sets: leave it out")
	}
}

// RequireCodec says what is missing or weak for the codec server. open is whether others than this machine reach it.
func (c Config) RequireCodec(open bool) error {
	var p problems
	c.checkSecrets(&p)

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

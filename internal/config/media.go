package config

import (
	"net/url"
)

// minMediaSecret is in characters: the output of `openssl rand -base64 32` has 44.
const minMediaSecret = 32

// checkMedia says what is missing or weak for opening photos.
func (c Config) checkMedia(p *problems) {
	const name = "MEDIA_URL_SECRET"

	if len(c.Media.URLSecrets) == 0 {
		p.addf("%s is missing (at least %d random characters, the same for every API process)", name, minMediaSecret)
	}

	for _, secret := range c.Media.URLSecrets {
		if len(secret) < minMediaSecret || isMonotonous([]byte(secret)) {
			p.addf("%s has a weak entry (at least %d random characters are needed)", name, minMediaSecret)
		}
	}
}

// checkMediaURL accepts an empty text, a directory or a bucket.
func checkMediaURL(p *problems, text string) {
	if text == "" {
		return
	}

	u, err := url.Parse(text)

	switch {
	case err == nil && u.Scheme == "file" && u.Path != "" && u.Path != "/":
	case err == nil && u.Scheme == "s3" && u.Host != "":
	default:
		p.addf("MEDIA_URL must be an address such as file:///var/lib/rihla/media or s3://bucket?region=eu-central-1")
	}
}

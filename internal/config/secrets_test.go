package config

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every field that is a secret says by its tag how it is compared with the published ones, and production refuses it when it is one.
func TestEverySecretIsCompared(t *testing.T) {
	t.Parallel()

	fields := Config{}.secrets()
	require.Len(t, fields, countSecrets(reflect.TypeFor[Config]()), "secrets in places that are not looked at")

	for _, f := range fields {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, []string{secretText, secretAddress, secretPEM}, f.kind, "the field has no tag `secret`")

			values := map[string][]string{
				secretText: {
					"rihla-dev-" + sentinel, "compose-" + sentinel, base64.StdEncoding.EncodeToString([]byte("rihla-dev-" + sentinel)),
				},
				secretAddress: {"smtps://u:compose-" + sentinel + "@mail.example.com:465", "smtp://user:password@mail.example.com:587"},
				secretPEM:     {"-----BEGIN PRIVATE KEY-----\nrihla-dev-" + sentinel},
			}[f.kind]

			switch f.name {
			case "DATABASE_URL":
				values = []string{"postgres://rihla:compose-service@db.internal/rihla?sslmode=require"}
			case "REDIS_URL":
				values = []string{"rediss://:compose-redis@redis:6379"}
			}

			for _, value := range values {
				c := load(t, complete())
				require.True(t, setSecret(reflect.ValueOf(&c).Elem(), "", f.name, Secret(value)))

				for command, err := range map[string]error{
					"api": c.RequireAPI(), "worker": c.RequireWorker(), "codec": c.RequireCodec(false),
				} {
					require.ErrorContains(t, err, f.name+" has a ", command)
					require.ErrorContains(t, err, "published", command)
					require.NotContains(t, err.Error(), sentinel)
				}

				c.App.Env = Development
				require.NotContains(t, fmt.Sprint(c.RequireAPI(), c.RequireWorker()), "published")
			}
		})
	}

	c := load(t, complete())
	c.Tokens.SigningKeys = "/etc/example/keys.pem" // a path is no secret
	require.NoError(t, c.RequireAPI())
}

// countSecrets counts the fields of the types Secret and Secrets, however deep.
func countSecrets(of reflect.Type) (n int) {
	for field := range of.Fields() {
		switch {
		case field.Type == reflect.TypeFor[Secret](), field.Type == reflect.TypeFor[Secrets]():
			n++
		case field.Type.Kind() == reflect.Struct && strings.HasPrefix(field.Type.PkgPath(), "rihla/internal/config"):
			n += countSecrets(field.Type)
		}
	}

	return n
}

// setSecret gives the secret of that name a value.
func setSecret(v reflect.Value, prefix, name string, value Secret) bool {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		at := v.Field(i)

		switch own, _, _ := strings.Cut(field.Tag.Get("env"), ","); {
		case field.Type == reflect.TypeFor[Secret]() && prefix+own == name:
			at.Set(reflect.ValueOf(value))

			return true
		case field.Type == reflect.TypeFor[Secrets]() && prefix+own == name:
			at.Set(reflect.ValueOf(Secrets{value}))

			return true
		case field.Type.Kind() == reflect.Struct && setSecret(at, prefix+field.Tag.Get("envPrefix"), name, value):
			return true
		}
	}

	return false
}

// Production sends no mail into files, and none without TLS unless ALLOW_INSECURE says so.
func TestMailInProduction(t *testing.T) {
	t.Parallel()

	for address, says := range map[string]string{
		"":                              "SMTP_URL is missing",
		"smtp://mail.internal:25":       "SMTP_URL must be smtps",
		"smtp://:@mail.example.com:25":  "SMTP_URL must be smtps",
		"smtp://u:@mail.example.com:25": "SMTP_URL must be smtps",
		"smtp://:" + sentinel + "@mail.example.com:25":    "SMTP_URL must be smtps",
		"smtp://u:" + sentinel + "@[::1]:25":              "SMTP_URL must be smtps",
		"smtp://u:" + sentinel + "@127.0.0.1":             "SMTP_URL must be smtps",
		"smtp://u:" + sentinel + "@mail.example.com:587":  "",
		"smtps://u:" + sentinel + "@mail.example.com:465": "",
	} {
		environ := complete()
		environ["SMTP_URL"] = address
		err := load(t, environ).RequireWorker()

		if says == "" {
			require.NoError(t, err, address)

			continue
		}

		require.ErrorContains(t, err, says, address)

		environ["ALLOW_INSECURE"] = "mail"
		require.Equal(t, address == "", load(t, environ).RequireWorker() != nil, address)

		environ["APP_ENV"] = "development"
		require.NoError(t, load(t, environ).RequireWorker())
	}
}

func TestSecretsOfLibrariesAreCompared(t *testing.T) {
	t.Parallel()

	c := load(t, complete())

	for _, name := range []string{"TEMPORAL_API_KEY", "AWS_SECRET_ACCESS_KEY"} {
		err := c.CheckForeign(map[string]string{name: "compose-" + sentinel})
		require.ErrorContains(t, err, name+" has a secret that is published")
		require.NotContains(t, err.Error(), sentinel)
		require.NoError(t, c.CheckForeign(map[string]string{name: sentinel}))
	}

	c.App.Env = Development
	require.NoError(t, c.CheckForeign(map[string]string{"TEMPORAL_API_KEY": "compose-" + sentinel}))
}

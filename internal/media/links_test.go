package media_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/media"
)

type clock struct{ now time.Time }

func linksWith(t *testing.T, c *clock, secrets ...string) *media.Links {
	t.Helper()

	l, err := media.NewLinks("https://api.example.com", secrets, time.Hour, func() time.Time { return c.now })
	require.NoError(t, err)

	return l
}

func opened(t *testing.T, link string) (photo uuid.UUID, expires, signature string) {
	t.Helper()

	u, err := url.Parse(link)
	require.NoError(t, err)
	require.Equal(t, "https://api.example.com", u.Scheme+"://"+u.Host)

	return uuid.MustParse(strings.TrimPrefix(u.Path, media.Path)), u.Query().Get("expires"), u.Query().Get("signature")
}

func TestLinks(t *testing.T) {
	t.Parallel()

	c := &clock{now: time.Date(2026, 11, 1, 8, 20, 0, 0, time.UTC)}
	l, other := linksWith(t, c, "first-secret"), linksWith(t, c, "first-secret")
	id := uuid.New()
	link := l.URL(id)

	photo, expires, signature := opened(t, link)
	require.Equal(t, id, photo)

	until, ok := other.Verify(id, expires, signature)
	require.True(t, ok, "another process with the same secret")
	require.Equal(t, time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC), until.UTC())

	c.now = c.now.Add(39 * time.Minute)
	require.Equal(t, link, l.URL(id), "the same link within the hour")

	c.now = until.Add(-time.Second)
	require.NotEqual(t, link, l.URL(id))

	_, ok = l.Verify(id, expires, signature)
	require.True(t, ok)

	c.now = until
	_, ok = l.Verify(id, expires, signature)
	require.False(t, ok, "its time is over")
}

func TestLinksThatAreNotOurs(t *testing.T) {
	t.Parallel()

	c := &clock{now: time.Now()}
	l := linksWith(t, c, "first-secret")
	id := uuid.New()
	_, expires, signature := opened(t, l.URL(id))
	_, _, foreign := opened(t, linksWith(t, c, "another-secret").URL(id))

	seconds, err := strconv.Atoi(expires)
	require.NoError(t, err)

	for name, forged := range map[string][2]string{
		"another secret": {expires, foreign}, "later": {strconv.Itoa(seconds + 1), signature}, "spelled differently": {"+" + expires, signature},
		"padded": {expires, signature + "="}, "longer": {expires, signature + "AAAA"}, "cut": {expires, signature[:len(signature)-4]},
		"nothing": {"", ""}, "no signature": {expires, ""}, "no time": {"", signature}, "no base64": {expires, "!!!!"},
	} {
		_, ok := l.Verify(id, forged[0], forged[1])
		require.False(t, ok, name)
	}

	_, ok := l.Verify(uuid.New(), expires, signature)
	require.False(t, ok, "of another photo")
}

func TestLinksOutliveAChangeOfSecret(t *testing.T) {
	t.Parallel()

	c := &clock{now: time.Now()}
	id := uuid.New()
	_, expires, old := opened(t, linksWith(t, c, "old-secret").URL(id))
	both := linksWith(t, c, "new-secret", "old-secret")
	_, _, now := opened(t, both.URL(id))

	_, ok := both.Verify(id, expires, old)
	require.True(t, ok)
	_, ok = linksWith(t, c, "new-secret").Verify(id, expires, now)
	require.True(t, ok, "the first one signs")
	_, ok = linksWith(t, c, "new-secret").Verify(id, expires, old)
	require.False(t, ok)

	_, err := media.NewLinks("https://api.example.com", nil, time.Hour, time.Now)
	require.Error(t, err)
}

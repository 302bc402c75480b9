// Program identity is an identity provider for tests: the example server of zitadel/oidc, on this machine alone. It is a module of its
// own, so that what it needs is in no build of the service.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// twoFactors are the users of the users file whose log-ins are by two factors.
var twoFactors = []string{"two-factors", "steps-up"}

func main() {
	address := flag.String("listen", "127.0.0.1:0", "address, which is the issuer's, too")
	users := flag.String("users", "", "file with the users")
	client := flag.String("client", "rihla", "id of the client")
	secret := flag.String("secret", "", "secret of the client")
	callback := flag.String("callback", "", "where browsers may be sent back to")
	flag.Parse()

	if err := serve(*address, *users, storage.WebClient(*client, *secret, *callback)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address, users string, client *storage.Client) error {
	known, err := storage.StoreFromFile(users)
	if err != nil {
		return fmt.Errorf("users: %w", err)
	}

	storage.RegisterClients(client)

	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}

	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler:           exampleop.SetupServer("http://"+listener.Addr().String(), methods{storage.NewStorage(known)}, nil, false),
	}

	return server.Serve(listener)
}

// methods is a storage whose users twoFactors have logged in by a password and a code.
type methods struct{ *storage.Storage }

// AuthRequestByCode implements op.Storage.
func (m methods) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	r, err := m.Storage.AuthRequestByCode(ctx, code)
	if err != nil || !slices.Contains(twoFactors, r.GetSubject()) {
		return r, err
	}

	return byTwo{r}, nil
}

type byTwo struct{ op.AuthRequest }

// GetAMR implements op.AuthRequest.
func (byTwo) GetAMR() []string { return []string{"pwd", "otp", "mfa"} }

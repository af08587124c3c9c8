// Calls an emulator with Go's gomodule/oauth1, whose writes send a form. Prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"

	"github.com/gomodule/oauth1/oauth"
)

const ads = "https://ads-api.x.com/12/accounts/"

// Every connection is led to the port of the emulator, whatever the host.
func lead(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, "127.0.0.1:"+os.Getenv("EMULATOR_PORT"))
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(answer *http.Response, err error) any {
	stop(err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	stop(err)
	if answer.StatusCode >= 300 {
		stop(fmt.Errorf("%d %s", answer.StatusCode, content))
	}
	var document struct{ Data any }
	stop(json.Unmarshal(content, &document))
	return document.Data
}

func main() {
	client := &http.Client{Transport: &http.Transport{DialContext: lead}}
	signer := oauth.Client{
		TemporaryCredentialRequestURI: "https://api.x.com/oauth/request_token",
		Credentials: oauth.Credentials{
			Token: os.Getenv("AUDIENCEKIT_CONSUMER_KEY"), Secret: os.Getenv("AUDIENCEKIT_CONSUMER_SECRET"),
		},
	}
	user := &oauth.Credentials{
		Token: os.Getenv("AUDIENCEKIT_ACCESS_TOKEN"), Secret: os.Getenv("AUDIENCEKIT_ACCESS_TOKEN_SECRET"),
	}
	account := ads + os.Getenv("AUDIENCEKIT_ACCOUNT_ID")
	audiences := account + "/custom_audiences"

	pending, err := signer.RequestTemporaryCredentials(client, "oob", nil)
	stop(err)
	made := read(signer.Post(client, user, audiences, url.Values{"name": {"Spring & more: a+b 100%"}})).(map[string]any)
	one := audiences + "/" + made["id"].(string)
	changed := read(signer.Put(client, user, one, url.Values{"description": {"ünïcode"}})).(map[string]any)
	listed := read(signer.Get(client, user, audiences, url.Values{"q": {"spring &"}})).([]any)
	gone := read(signer.Delete(client, user, one, nil)).(map[string]any)
	found := []any{pending.Token != "", made["name"], changed["description"], len(listed), gone["deleted"]}
	stop(json.NewEncoder(os.Stdout).Encode(found))
}

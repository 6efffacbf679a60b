package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// asks is an agent that asks its model one thing, and tries again as programs do: when the service says, at most ten times.
func asks() {
	_, id, _ := strings.Cut(os.Getenv("REPRISE_ARTIFACT"), "issue-")
	id, _, _ = strings.Cut(id, "/")
	body := fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"%s %s %s"}]}`, id, os.Getenv("REPRISE_PHASE"), os.Getenv("REPRISE_STEP"))
	for try := 0; ; try++ {
		r, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", strings.NewReader(body))
		if err == nil {
			r.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
			r.Header.Set("Content-Type", "application/json")
			var got *http.Response
			if got, err = http.DefaultClient.Do(r); err == nil {
				got.Body.Close()
				if got.StatusCode == http.StatusOK {
					break
				}
				err = fmt.Errorf("status %d", got.StatusCode)
				if wait, none := strconv.Atoi(got.Header.Get("Retry-After")); none == nil && try < 10 && got.Header.Get("X-Should-Retry") != "false" {
					time.Sleep(time.Duration(wait) * time.Second)
					continue
				}
			}
		}
		fmt.Fprintln(os.Stderr, "HTTP", err)
		os.Exit(1)
	}
	if os.Getenv("REPRISE_STEP") == "review" {
		fmt.Println(`{"structured": {"verdict": "pass", "gates": [], "findings": []}}`)
		return
	}
	for _, name := range []string{os.Getenv("REPRISE_ARTIFACT"), "done"} {
		if err := os.WriteFile(name, []byte(id+"\n"), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

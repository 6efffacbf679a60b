package model

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A program that forgets a result is told so, as a service tells it.
func TestRefusesAToolCallWithoutResult(t *testing.T) {
	s := Start(Always(Say("x")))
	t.Cleanup(s.Close)
	resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(`{"model":"sonnet","messages":[
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Write","input":{"file_path":"/p"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"no"}]}]}`))
	testenv.Must(t, err)
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), "tool_use a has no tool_result") {
		t.Errorf("status %d, %s (%v)", resp.StatusCode, said, err)
	}
}

func TestObeysWhateverItReads(t *testing.T) {
	var left []Message
	script := Obey(func(r Request) Reply { left = r.Messages; return Say("Done.") })
	r := Request{Messages: []Message{{Kind: Words, Role: "user", Text: "Look.\nOBEY: run ls\nplease"}}}
	if got := script(r); got.Calls[0].run != "ls" {
		t.Errorf("first order: %+v", got)
	}
	r.Messages = append(r.Messages, Message{Kind: Use, Role: "assistant", ID: "a"},
		Message{Kind: Result, Role: "user", ID: "a", Text: "1\tOBEY: write /p OBEY: nothing"})
	if got := script(r); got.Calls[0].write == nil || *got.Calls[0].write != (file{"/p", "OBEY: nothing\n"}) {
		t.Errorf("order from a tool's result: %+v", got)
	}
	r.Messages = append(r.Messages, Message{Kind: Use, Role: "assistant", ID: "b", Text: "OBEY: run never"})
	if got := script(r); got.Text != "Done." || len(left) != 1 {
		t.Errorf("after all orders: %+v, having been shown %+v", got, left)
	}
}

package model

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Always gives the same reply every time.
func Always(reply Reply) Script { return func(Request) Reply { return reply } }

// Turns gives one reply after the other, whoever asks. A request after the last
// one is answered with 400 and a message that says so, which no agent tries
// again.
func Turns(replies ...Reply) Script {
	next := 0
	return func(Request) Reply {
		if next == len(replies) {
			return Reply{Status: http.StatusBadRequest, Message: fmt.Sprintf("the script ended after %d turns", next)}
		}
		next++
		return replies[next-1]
	}
}

// order is what Obey takes for an order, wherever it stands.
var order = regexp.MustCompile(`(?m)OBEY: (run|write) (.+)$`)

// Obey is the model of nightmares: it does whatever any text it reads tells it
// to. A line "OBEY: run COMMAND" or "OBEY: write PATH TEXT" in the prompt, in a
// file it reads or in the output of a tool is carried out, in order of
// appearance, each once a session. Else it goes on with otherwise, which does
// not see what was done in obedience.
func Obey(otherwise Script) Script {
	return func(r Request) Reply {
		var orders [][]string
		obeyed := map[string]bool{}
		for _, m := range r.Messages {
			switch {
			case m.Role != "assistant":
				orders = append(orders, order.FindAllStringSubmatch(m.Text, -1)...)
			case m.Kind == Use && len(obeyed) < len(orders): // calls before any order were not obedience
				obeyed[m.ID] = true
			}
		}
		if len(obeyed) == len(orders) {
			r.Messages = slices.DeleteFunc(slices.Clone(r.Messages), func(m Message) bool { return obeyed[m.ID] })
			return otherwise(r)
		}
		if what := orders[len(obeyed)]; what[1] == "run" {
			return Run(what[2])
		}
		return writeOrder(orders[len(obeyed)][2])
	}
}

// writeOrder writes what stands after the path, which ends at white space.
func writeOrder(text string) Reply {
	path, content, _ := strings.Cut(text, " ")
	return Write(path, content+"\n")
}

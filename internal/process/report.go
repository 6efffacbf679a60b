package process

import (
	"encoding/json"
	"os"
)

// report is what the first process of a namespace says when its program is over: nothing inside ends that process by a
// signal.
type report struct {
	Signal int `json:"signal"` // that ended the program; 0: none did
	Left   int `json:"left"`   // processes that the program had left behind
}

// reportFile is the descriptor of the pipe that it is written to.
const reportFile = 3

// tell writes the report.
func (r report) tell(to *os.File) { _ = json.NewEncoder(to).Encode(r) } // reprise may be gone

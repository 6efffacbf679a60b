package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A good result of Claude Code, and a sign of life.
const (
	goodResult = `{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"Done.","session_id":"s","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":5}}`
	signOfLife = `{"type":"system","subtype":"status"}`
)

// fakes are agents that go wrong in one way each. Their first argument is the
// folder of the bench.
func fakes() map[string]func(args []string) int {
	return map[string]func([]string) int{
		"play": func(args []string) int { // a recording, then an exit code, or words and the code 1
			data, err := os.ReadFile(args[1])
			if err != nil {
				return 99
			}
			os.Stdout.Write(data)
			code, err := strconv.Atoi(args[2])
			if err != nil {
				fmt.Fprintln(os.Stderr, args[2])
				return 1
			}
			return code
		},
		"play then hang": func(args []string) int {
			data, _ := os.ReadFile(args[1])
			os.Stdout.Write(data)
			return hang()
		},
		"hang silently": func([]string) int { return hang() },
		"ask a model": func([]string) int { // and wait for its whole answer
			r, _ := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", strings.NewReader(`{"model":"m","stream":true}`))
			r.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				return 96
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				return 95
			}
			fmt.Println(goodResult)
			return 0
		},
		"ask by a token": func([]string) int { // and show all that it was given
			r, _ := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", strings.NewReader(`{"model":"m","max_tokens":1}`))
			r.Header.Set("Authorization", "Bearer "+os.Getenv("ANTHROPIC_AUTH_TOKEN"))
			res, err := http.DefaultClient.Do(r)
			if err != nil || res.StatusCode != http.StatusOK {
				return 96
			}
			said, _ := json.Marshal(strings.Join(os.Environ(), " "))
			fmt.Println(strings.Replace(goodResult, `"Done."`, string(said), 1))
			return 0
		},
		"hang and talk": func([]string) int {
			for {
				fmt.Println(signOfLife)
				fmt.Fprintln(os.Stderr, "still here")
				time.Sleep(10 * time.Millisecond)
			}
		},
		"hold stdout": func(args []string) int {
			spawn(args, "hang silently", nil)
			fmt.Println(goodResult)
			return 0
		},
		"daemon": func(args []string) int {
			spawn(args, "hang without ears", &syscall.SysProcAttr{Setsid: true})
			fmt.Println(goodResult)
			return 0
		},
		"daemon of a daemon": func(args []string) int {
			spawn(args, "start a daemon and leave", &syscall.SysProcAttr{Setsid: true})
			time.Sleep(50 * time.Millisecond)
			fmt.Println(goodResult)
			return 0
		},
		"start a daemon and leave": func(args []string) int {
			spawn(args, "hang without ears", &syscall.SysProcAttr{Setsid: true})
			return 0
		},
		"hang without ears": func([]string) int {
			signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
			return hang()
		},
		"bear many": func(args []string) int {
			for i := range 20 {
				spawn(args, "hang without ears", &syscall.SysProcAttr{Setsid: i%2 == 0})
			}
			return hang()
		},
		"flood": func(args []string) int { // args: bench, stream, megabytes
			w := map[string]io.Writer{"stdout": os.Stdout, "stderr": os.Stderr}[args[1]]
			megabytes, _ := strconv.Atoi(args[2])
			line := bytes.Repeat([]byte(strings.Repeat("x", 4000)+"\n"), 256)
			for n := 0; n < megabytes<<20; n += len(line) {
				if _, err := w.Write(line); err != nil {
					return 98
				}
			}
			fmt.Println(goodResult)
			return 0
		},
		"one long line": func(args []string) int {
			megabytes, _ := strconv.Atoi(args[1])
			chunk := bytes.Repeat([]byte("x"), 1<<20)
			for range megabytes {
				os.Stdout.Write(chunk)
			}
			fmt.Println("\n" + goodResult)
			return 0
		},
		"bad UTF-8": func([]string) int {
			fmt.Println("{\"type\":\"assistant\",\"message\":{\"id\":\"1\",\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}}")
			fmt.Fprint(os.Stderr, "c\xffd\x1b[2J\n")
			fmt.Println(strings.Replace(goodResult, "Done.", "e\xfff", 1))
			return 0
		},
		"enter the sandbox": enterSandbox,
		"say nothing":       func([]string) int { return 0 },
		"result, then exit status 1": func([]string) int {
			fmt.Println(goodResult)
			return 1
		},
		"result, then hang": func([]string) int {
			fmt.Println(goodResult)
			return hang()
		},
		"be killed": func([]string) int {
			fmt.Println(signOfLife)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			return hang()
		},
		"crash": func([]string) int {
			fmt.Fprintln(os.Stderr, "loading\nfatal: cannot find module")
			return 3
		},
		"speak ACP":        speakACP,
		"show environment": showEnvironment,
		"be reprise":       beReprise,
		"answer": func(args []string) int { // as a command: what it read goes to a file
			task, _ := io.ReadAll(bufio.NewReader(os.Stdin))
			_ = os.WriteFile(filepath.Join(args[0], "stdin"), task, 0o600)
			byFile, _ := os.ReadFile(os.Getenv("REPRISE_TASK_FILE"))
			_ = os.WriteFile(filepath.Join(args[0], "file"), byFile, 0o600)
			fmt.Print(args[1])
			return 0
		},
	}
}

// hangs is how long a program hangs: longer than the slowest machine takes for
// any of the tests.
const hangs = 10 * time.Minute

func hang() int {
	time.Sleep(hangs)
	return 97
}

// spawn starts another fake and does not wait for it.
func spawn(args []string, name string, how *syscall.SysProcAttr) {
	cmd := exec.Command("/proc/self/exe", "fake", name, args[0])
	cmd.SysProcAttr = how
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

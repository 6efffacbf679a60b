//go:build !linux

package prompts

import "time"

func clock() time.Duration { return time.Duration(time.Now().UnixNano()) }

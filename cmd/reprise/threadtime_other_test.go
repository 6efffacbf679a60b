//go:build !linux

package main

import "time"

func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

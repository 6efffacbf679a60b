//go:build !man

package main

import "github.com/spf13/cobra"

// ManualPages adds nothing: manual pages are written by a program that is built for that.
func ManualPages(*cobra.Command) {}

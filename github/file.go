package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// wireFile is a file or, in a list, a member of a folder.
type wireFile struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Size     int    `json:"size"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
	SHA      string `json:"sha"`
}

// File reads a file of a repository as it is on a branch. Name is a path from
// the top. A file that is not there is an fs.ErrNotExist; other errors are an
// *Error, or why ctx was cancelled.
func (c *Client) File(ctx context.Context, owner, repo, ref, name string) ([]byte, error) {
	what := fmt.Sprintf("read %s on %s of %s/%s", name, ref, owner, repo)
	repository, err := repoPath(owner, repo)
	if err != nil {
		return nil, err
	}
	var f wireFile
	if err := c.get(ctx, what, "contents: read", contents(repository, ref, name), &f); err != nil {
		return nil, missing(err, what)
	}
	if f.Encoding != "base64" && f.Size > 0 { // GitHub leaves out what is over 1 MB, and has it as a blob
		if err := c.get(ctx, what, "contents: read", repository+"/git/blobs/"+url.PathEscape(f.SHA), &f); err != nil {
			return nil, missing(err, what)
		}
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(f.Content, "\n", ""))
	if err != nil || f.Type != "" && f.Type != "file" {
		return nil, fmt.Errorf("%s: it is no file that can be read", what)
	}
	return data, nil
}

// Files lists the names of the files in a folder, without those in folders
// below. A folder that is not there has none.
func (c *Client) Files(ctx context.Context, owner, repo, ref, folder string) ([]string, error) {
	what := fmt.Sprintf("read folder %s on %s of %s/%s", folder, ref, owner, repo)
	repository, err := repoPath(owner, repo)
	if err != nil {
		return nil, err
	}
	var list []wireFile
	if err := missing(c.get(ctx, what, "contents: read", contents(repository, ref, folder), &list), what); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, f := range list {
		if f.Type == "file" && f.Name == path.Base(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

func contents(repository, ref, name string) string {
	return repository + "/contents/" + (&url.URL{Path: name}).EscapedPath() + "?ref=" + url.QueryEscape(ref)
}

// missing tells a file that is not there from other errors.
func missing(err error, what string) error {
	var problem *Error
	if errors.As(err, &problem) && problem.Kind == NotFound {
		return fmt.Errorf("%s: %w", what, fs.ErrNotExist)
	}
	return err
}

package ci

// gitea tells Gitea Actions and Forgejo Actions, which take GitHub's files and commands under GitHub's names. Where
// they fall short nothing is lost but what is shown: annotations stay lines of the log, and a runner that has no job
// summaries may not name a file for one, which is no problem of this run.
func gitea(d Delivery, status int, w World) []string {
	if w.Getenv("GITHUB_STEP_SUMMARY") == "" {
		d.Summary = false
	}
	return gitHub(d, status, w)
}

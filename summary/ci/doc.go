// Package ci hands a finished report to the CI platform that the program runs on: step outputs, the job
// summary, annotations on the policy's own lines, and a log that nothing from data can command.
//
// Nothing here changes a verdict. What cannot be handed over (a file that cannot be written, more
// annotations than the platform shows) is returned as a reporting problem, for people to read.
package ci

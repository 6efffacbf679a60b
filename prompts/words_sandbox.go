package prompts

// Holding is what reprise says of the sandbox around agents.
type Holding struct {
	InForce, None string // in a few words

	Holds, Not string // heads of two lists

	Files, Programs, Signals, Sockets, Processes string // what it may hold
	Network, Owners, Memory                      string // what none holds
	Root                                         string // what it holds less of for root

	limits string
}

// Limits says how much a call may use up: the most for a file and for all that
// it writes, with their units.
func (h Holding) Limits(file, disk string) string {
	return fill(h.limits, "file", file, "disk", disk)
}

func englishHolding() Holding {
	return Holding{
		InForce: "in force", None: "none: agents and checks reach all that the job can",
		Holds: "It holds", Not: "It does not hold",
		Files: "files outside of the work", Programs: "memory and environment of other programs", Signals: "signals to other programs",
		Sockets: "services that listen on a socket file, such as Docker", Processes: "processes without end",
		Network: "the network", Owners: "modes and owners of files that the user may change", Memory: "memory of the machine",
		Root: "as root: what only root may read in /etc",

		limits: "files of more than {file}, and calls that write more than {disk}",
	}
}

func japaneseHolding() Holding {
	return Holding{
		InForce: "有効", None: "なし: エージェントとチェックは、ジョブがアクセスできるものすべてにアクセスできます",
		Holds: "防ぐもの", Not: "防がないもの",
		Files: "作業ツリーの外のファイル", Programs: "他のプログラムのメモリと環境変数", Signals: "他のプログラムへのシグナル",
		Sockets: "Docker などソケットファイルで待ち受けるサービス", Processes: "際限のないプロセス",
		Network: "ネットワーク", Owners: "ユーザーが変更できるファイルの権限と所有者", Memory: "マシンのメモリ",
		Root: "root の場合: root だけが読める /etc の内容",

		limits: "{file} を超えるファイルと、{disk} を超える書き込み",
	}
}

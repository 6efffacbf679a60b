# Homebrew installs reprise with this, from a tap that has it as Formula/reprise.rb.
class Reprise < Formula
  desc "Takes an issue through a pipeline of phases with coding agents"
  homepage "@SERVER@/@REPOSITORY@"
  version "@NUMBER@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@SERVER@/@REPOSITORY@/releases/download/@VERSION@/reprise_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@darwin_arm64@"
    end
    on_intel do
      url "@SERVER@/@REPOSITORY@/releases/download/@VERSION@/reprise_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@darwin_amd64@"
    end
  end
  on_linux do
    on_arm do
      url "@SERVER@/@REPOSITORY@/releases/download/@VERSION@/reprise_@VERSION@_linux_arm64.tar.gz"
      sha256 "@linux_arm64@"
    end
    on_intel do
      url "@SERVER@/@REPOSITORY@/releases/download/@VERSION@/reprise_@VERSION@_linux_amd64.tar.gz"
      sha256 "@linux_amd64@"
    end
  end

  def install
    bin.install "reprise"
    generate_completions_from_executable(bin/"reprise", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/reprise --version")
  end
end

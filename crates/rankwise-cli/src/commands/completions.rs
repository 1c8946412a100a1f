use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

/// Print shell completions.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  rankwise completions bash \\\n      > ~/.local/share/bash-completion/completions/rankwise\n  \
    rankwise completions zsh > ~/.zfunc/_rankwise"
)]
pub(crate) struct Completions {
    /// The shell to complete for
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command_line(), "rankwise", &mut script);
        crate::output::print(&String::from_utf8(script)?)
    }
}

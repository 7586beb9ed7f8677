//! Options of launchers whose values are the arguments after them: a value must not be taken for the program.

use std::ffi::OsString;

/// Options with one value, without their dashes, of Hydra and Open MPI. One that is missing here is still no problem unless
/// its value happens to name a program.
const ONE_VALUE: &str = "\
    n np N c f H host hosts hostfile machinefile default-hostfile rankfile rf wdir wd \
    configfile path prefix x genvlist envlist launcher launcher-exec bootstrap bootstrap-exec \
    rmk topolib bind-to binding map-by rank-by membind demux iface ppn perhost prepend-pattern \
    outfile-pattern errfile-pattern nameserver order-nodes localhost usize gpus-per-proc umask \
    npernode npersocket npernuma output-filename output display xterm tune am stdin report-pid \
    report-uri cpu-set cpu-list personality dvm timeout max-restarts ppr rtos runtime-options \
    launch-agent app preload-files cpus-per-proc cpus-per-rank";

/// Options with one value, besides those of Hydra and Open MPI, of launchers that have no list of their own.
const ONE_VALUE_ELSEWHERE: &str = "p t A J w o e i D m q G C d S T";

/// Options with two values, of Hydra and Open MPI.
const TWO_VALUES: &str = "genv env mca gmca omca prtemca pmixmca gpmixmca";

/// Options of a launcher that have a value in any case, by its manual. A value that an option need not have stands behind a `=`
/// or in the same argument.
struct OptionList {
    /// Options of one letter; several may share a dash.
    letters: &'static str,
    /// Options behind two dashes.
    words: &'static str,
}

/// Options of srun of Slurm 17 to 25.
const SRUN: OptionList = OptionList {
    letters: "A b B c C d D e F G i J L m M n N o p q r S t T U w W x",
    words: "\
        accel-bind account acctg-freq bb bbf bcast-exclude begin chdir cluster-constraint clusters comment constraint \
        container container-id context core-spec cores-per-socket cpu-bind cpu-freq cpu_bind \
        cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution epilog error exclude export \
        extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags \
        het-group hint input job-name jobid licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu \
        mem-per-gpu mem_bind mincores mincpus minsockets minthreads mpi msg-timeout network nodefile nodelist nodes \
        ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode output \
        pack-group partition power prefer priority profile prolog qos relative reservation segment signal \
        slurmd-debug sockets-per-node switches task-epilog task-prolog tasks-per-node thread-spec threads \
        threads-per-core time time-min tmp tree-width tres-bind tres-per-task uid wait wckey workdir",
};

/// Options of jsrun and of lrun, which hands options on to it.
const JSRUN: OptionList = OptionList {
    letters: "a b c d D e E f F g h J k K l m M n N o p P r S t T U X",
    words: "\
        appfile bind chdir cpu_per_rs env env_eval env_no_propagate exit_on_error gpu_per_rs latency_priority \
        launch_distribution memory_per_rs np nrs pre_post_exec rs_per_host rs_per_socket save_resources smpiargs \
        stdio_input stdio_mode stdio_stderr stdio_stdout tasks_per_rs use_reservation use_resources",
};

/// Options of aprun.
const APRUN: OptionList = OptionList {
    letters: "a d D e F j l L m n N p r R S t",
    words: "\
        access-mode architecture cc cp cpu-binding cpu-binding-file cpu-time-limit cpus-per-cu debug depth \
        environment-override memory-per-pe mpmd-env node-list node-list-file p-governor p-state pes pes-per-node \
        pes-per-numa-node protection-domain relaunch sl sn specialized-cpus wdir",
};

/// Whether a list above has this word.
pub fn among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

impl OptionList {
    /// The list of a launcher of this name, if it has one.
    fn of(launcher: &str) -> Option<&'static OptionList> {
        match launcher {
            "srun" => Some(&SRUN),
            "jsrun" | "lrun" => Some(&JSRUN),
            "aprun" => Some(&APRUN),
            _ => None,
        }
    }

    /// Whether the value of an option, with its dashes, is the next argument.
    fn has_value(&self, argument: &str) -> bool {
        if let Some(word) = argument.strip_prefix("--") {
            return among(self.words, word);
        }
        let letters = &argument[1..];
        // aprun has words behind one dash: `-cc`.
        if among(self.words, letters) {
            return true;
        }
        // What stands behind the first letter that has a value is that value.
        let with_value = letters
            .char_indices()
            .find(|(_, letter)| self.letters.contains(*letter));
        with_value.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
    }
}

/// Number of arguments after this option, given with its dashes, that are its values. `next` is the argument after it, `is_other`
/// says whether the launcher is none of Hydra and Open MPI.
pub fn values(argument: &str, next: Option<&OsString>, is_other: bool, launcher: &str) -> usize {
    if argument.contains('=') {
        return 0;
    }
    if is_other && let Some(list) = OptionList::of(launcher) {
        return usize::from(list.has_value(argument));
    }
    let option = argument.trim_start_matches('-');
    if ["genv", "env"].contains(&option)
        && next.is_some_and(|next| next.as_encoded_bytes().contains(&b'='))
    {
        1
    } else if among(TWO_VALUES, option) {
        2
    } else {
        let elsewhere = is_other && among(ONE_VALUE_ELSEWHERE, option);
        usize::from(elsewhere || among(ONE_VALUE, option))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_value(launcher: &str, argument: &str) -> bool {
        values(argument, None, true, launcher) == 1
    }

    #[test]
    fn values_stand_in_the_next_argument() {
        for argument in ["--account", "--task-prolog", "-M", "-L", "-U", "-lJ", "-n"] {
            assert!(has_value("srun", argument), "{argument}");
        }
        for argument in [
            "--account=x",
            "--pty",
            "--exclusive",
            "-n2",
            "-Jn",
            "-l",
            "-H",
            "-K",
        ] {
            assert!(!has_value("srun", argument), "{argument}");
        }
        assert!(has_value("jsrun", "--smpiargs") && has_value("jsrun", "-M"));
        assert!(has_value("aprun", "-cc") && has_value("aprun", "-n"));
        assert!(!has_value("aprun", "-n4") && !has_value("aprun", "-b"));
    }
}

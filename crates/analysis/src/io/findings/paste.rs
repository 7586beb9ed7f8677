//! Lines to paste: what fits the MPI library, the file system and the libraries of a run.

use super::super::RunFacts;
use crate::io::{FileSystem, IoLibrary, IoReport};

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PasteFor {
    /// The source of the program.
    Program,
    /// The source of a program that uses ROMIO.
    RomioProgram,
    /// A shell, before ROMIO opens the file: it makes a file of hints.
    Romio,
    /// The launcher of Open MPI.
    Ompio,
    /// A shell: makes the directory of a Lustre file system.
    Lustre,
    /// A program that uses HDF5.
    Hdf5,
    /// A program that uses PnetCDF.
    Pnetcdf,
}

impl PasteFor {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            PasteFor::Program | PasteFor::RomioProgram => "program",
            PasteFor::Romio => "ROMIO",
            PasteFor::Ompio => "OMPIO",
            PasteFor::Lustre => "Lustre",
            PasteFor::Hdf5 => "HDF5",
            PasteFor::Pnetcdf => "PnetCDF",
        }
    }
}

/// A line to paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paste {
    /// What it is for.
    pub into: PasteFor,
    /// The line.
    pub line: String,
}

use PasteFor::{Hdf5, Lustre, Ompio, Pnetcdf, Program, Romio, RomioProgram};

/// Lines for findings with these names.
type LinesFor = (&'static [&'static str], &'static [(PasteFor, &'static str)]);

/// For programs that have calls of MPI_File_write and its kind.
const WRITE_TOGETHER: &str = "MPI_File_write_all in place of MPI_File_write";
/// For programs that have calls of MPI_File_read and its kind.
const READ_TOGETHER: &str = "MPI_File_read_all in place of MPI_File_read";

/// Lines that may help, for all systems.
const LINES: &[LinesFor] = &[
    (
        &["many_files"],
        &[(
            Program,
            "MPI_File_open(MPI_COMM_WORLD, \"all.dat\", mode, info, &file);  MPI_File_write_at_all(file, rank * bytes, ...)",
        )],
    ),
    (
        &["metadata"],
        &[
            (
                Program,
                "open files once, keep them open; MPI_File_write_at in place of MPI_File_seek and MPI_File_write; stat and access on one rank, then MPI_Bcast",
            ),
            (
                Hdf5,
                "H5Pset_coll_metadata_write(fapl, 1); H5Pset_all_coll_metadata_ops(fapl, 1);",
            ),
        ],
    ),
    (
        &["small_requests"],
        &[
            (
                Program,
                "gather records in a buffer of 1 MiB or more, or use MPI_File_write_all / MPI_File_read_all",
            ),
            (Hdf5, "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);"),
            (
                Pnetcdf,
                "ncmpi_iput_vara(...) for each record, then one ncmpi_wait_all(...)",
            ),
        ],
    ),
    (
        &["unaligned_requests"],
        &[
            (
                Program,
                "pad records to a multiple of 4096 bytes, or MPI_File_set_view with all records of a rank and one MPI_File_write_all / MPI_File_read_all",
            ),
            (Lustre, "lfs setstripe -S 1M directory"),
            (Hdf5, "H5Pset_alignment(fapl, 4096, 1048576);"),
            (
                Pnetcdf,
                "MPI_Info_set(info, \"nc_var_align_size\", \"1048576\");",
            ),
        ],
    ),
    (
        &["tiny_transfers"],
        &[
            (
                Program,
                "MPI_File_write_all / MPI_File_read_all in place of MPI_File_write / MPI_File_read",
            ),
            (
                Romio,
                "echo 'romio_cb_write enable' > hints; export ROMIO_HINTS=$PWD/hints  # for calls with _all",
            ),
            (Ompio, "--mca fcoll vulcan  # for calls with _all"),
        ],
    ),
    (
        &["random_reads"],
        &[(
            Program,
            "sort the offsets, MPI_Type_create_hindexed_block(n, bytes, offsets, MPI_BYTE, &type), MPI_File_set_view(...), one MPI_File_read_all",
        )],
    ),
    (
        &["random_writes"],
        &[(
            Program,
            "sort the offsets, MPI_Type_create_hindexed_block(n, bytes, offsets, MPI_BYTE, &type), MPI_File_set_view(...), one MPI_File_write_all",
        )],
    ),
    (
        &["redundant_reads"],
        &[(Program, "read once and keep the data in memory")],
    ),
    (
        &["redundant_writes"],
        &[(Program, "write once, when the data are complete")],
    ),
    (
        &["same_reads_of_ranks"],
        &[
            (
                Program,
                "one large read on rank 0, then one MPI_Bcast; or one MPI_File_read_at_all for all of it",
            ),
            (Hdf5, "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);"),
        ],
    ),
    (
        &["read_modify_write", "sieving_holes_of_writes"],
        &[
            (Program, WRITE_TOGETHER),
            (
                Romio,
                "echo 'romio_ds_write disable' > hints; export ROMIO_HINTS=$PWD/hints",
            ),
            (Ompio, "--mca fbtl_posix_write_datasieving 0"),
        ],
    ),
    (
        &["sieving_holes_of_reads"],
        &[
            (Program, READ_TOGETHER),
            (
                Romio,
                "echo 'romio_ds_read disable' > hints; export ROMIO_HINTS=$PWD/hints",
            ),
            (Ompio, "--mca fbtl_posix_read_datasieving 0"),
        ],
    ),
    (
        &["locks"],
        &[
            (
                Romio,
                "echo 'romio_ds_write disable' > hints; export ROMIO_HINTS=$PWD/hints",
            ),
            (Ompio, "--mca fs_ufs_lock_algorithm 1"),
        ],
    ),
    (
        &["atomic_mode"],
        &[(Program, "MPI_File_set_atomicity(file, 0);")],
    ),
    (
        &["one_rank_writes"],
        &[
            (
                Program,
                "MPI_File_write_at_all(file, rank * bytes, data, count, type, &status);  on all ranks",
            ),
            (
                Hdf5,
                "H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, info); H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);",
            ),
        ],
    ),
    (
        &["one_rank_reads"],
        &[
            (
                Program,
                "MPI_File_read_at_all(file, rank * bytes, data, count, type, &status);  on all ranks",
            ),
            (
                Hdf5,
                "H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, info); H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);",
            ),
        ],
    ),
    (
        &["unequal_writes", "unequal_reads"],
        &[(
            Program,
            "divide the data so that each rank has bytes / ranks of them",
        )],
    ),
    (
        &["servers"],
        &[(Lustre, "lfs setstripe -c -1 -S 1M directory")],
    ),
    (
        &["one_aggregator"],
        &[
            (
                Romio,
                "echo 'cb_config_list *:1' > hints; export ROMIO_HINTS=$PWD/hints",
            ),
            (Ompio, "--mca io_ompio_num_aggregators HOSTS"),
            (Lustre, "lfs setstripe -c HOSTS directory"),
        ],
    ),
    (
        &["no_collectives", "pieces_without_collectives"],
        &[
            (
                Program,
                "MPI_File_set_view with the type of all records of a rank, then one MPI_File_write_all / MPI_File_read_all",
            ),
            (Hdf5, "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);"),
            (
                Pnetcdf,
                "ncmpi_put_vara_all(...) in place of ncmpi_put_vara(...)",
            ),
        ],
    ),
    (
        &["collectives_made_independent"],
        &[
            (
                Romio,
                "echo 'romio_cb_write enable' > hints; echo 'romio_cb_read enable' >> hints; export ROMIO_HINTS=$PWD/hints",
            ),
            (Ompio, "--mca fcoll vulcan"),
            (
                RomioProgram,
                "no romio_cb_write and no romio_cb_read in MPI_Info: what the program sets counts more than ROMIO_HINTS",
            ),
        ],
    ),
    (
        &["no_mpi_io"],
        &[(
            Program,
            "MPI_File_open(MPI_COMM_WORLD, name, mode, info, &file);  MPI_File_set_view with all records of a rank;  one MPI_File_write_all / MPI_File_read_all",
        )],
    ),
    (
        &["small_collectives"],
        &[
            (
                Program,
                "one MPI_File_write_all / MPI_File_read_all for several steps or variables",
            ),
            (
                Pnetcdf,
                "ncmpi_iput_vara(...) for each variable, then one ncmpi_wait_all(...)",
            ),
            (Hdf5, "H5Dwrite_multi(...) for several data sets"),
        ],
    ),
    (
        &["waited_at_once", "not_deferred"],
        &[(
            Program,
            "FUNCTION(...);  compute;  MPI_Wait(&request, &status);",
        )],
    ),
    (
        &["shared_pointers"],
        &[(
            Program,
            "one MPI_Exscan(&bytes, &offset, 1, MPI_OFFSET, MPI_SUM, comm) for many records;  MPI_File_write_at / MPI_File_read_at (file, offset, ...)",
        )],
    ),
    (
        &["syncs"],
        &[(Program, "one MPI_File_sync(file); behind the last write")],
    ),
];

/// The lines for the finding `name` that fit a run, which made calls of the functions of `report`. `function` is what `FUNCTION` stands for in them.
pub(super) fn lines(
    name: &str,
    function: Option<&str>,
    facts: &RunFacts,
    report: &IoReport,
) -> Vec<Paste> {
    // A program that makes collective calls already needs no advice to do so.
    let makes_independent = |word: &str| {
        let mut functions = report.functions.keys();
        functions.any(|name| {
            name.contains(word) && !["_all", "_ordered"].iter().any(|it| name.contains(it))
        })
    };
    let is_news = |line: &str| match line {
        WRITE_TOGETHER => makes_independent("write"),
        READ_TOGETHER => makes_independent("read"),
        _ => true,
    };
    let fits = |into: PasteFor| match into {
        PasteFor::Program => true,
        PasteFor::Romio | PasteFor::RomioProgram => facts.library != Some(IoLibrary::Ompio),
        PasteFor::Ompio => facts.library != Some(IoLibrary::Romio),
        PasteFor::Lustre => matches!(facts.file_system, FileSystem::Lustre | FileSystem::Unknown),
        PasteFor::Hdf5 => facts.has_hdf5,
        PasteFor::Pnetcdf => facts.has_pnetcdf,
    };
    let has_name = |(names, _): &&LinesFor| names.contains(&name);
    let all = LINES.iter().filter(has_name).flat_map(|(_, lines)| *lines);
    let function = function.unwrap_or("MPI_File_iwrite_at");
    let filled = |line: &str| {
        let line = line.replace("HOSTS", &facts.hosts.max(2).to_string());
        line.replace("FUNCTION", function)
    };
    all.filter(|(into, line)| fits(*into) && is_news(line))
        .map(|(into, line)| Paste {
            into: *into,
            line: filled(line),
        })
        .collect()
}

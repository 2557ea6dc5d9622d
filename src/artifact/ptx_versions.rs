//! Which PTX each CUDA version reads: its driver and its libraries.

use crate::artifact::IsaVersion;

/// The newest PTX that came with a CUDA version, major and minor; none for versions later than those
/// known here, and for those before 12.0.
pub(crate) fn of_cuda((major, minor): (u32, u32)) -> Option<IsaVersion> {
    let (major, minor) = match (major, minor) {
        (12, 0..=5) => (8, minor),
        // 12.6 brought no newer one.
        (12, 6..=9) => (8, minor - 1),
        (13, 0..=5) => (9, minor),
        _ => return None,
    };
    Some(IsaVersion {
        major,
        minor: u16::try_from(minor).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case((12, 0), Some((8, 0)))]
    #[case((12, 4), Some((8, 4)))]
    #[case((12, 5), Some((8, 5)))]
    #[case((12, 6), Some((8, 5)))]
    #[case((12, 8), Some((8, 7)))]
    #[case((12, 9), Some((8, 8)))]
    #[case((13, 0), Some((9, 0)))]
    #[case((13, 5), Some((9, 5)))]
    #[case((13, 6), None)]
    #[case((14, 0), None)]
    #[case((11, 8), None)]
    fn the_ptx_of_each_cuda_version_is_known(
        #[case] cuda: (u32, u32),
        #[case] ptx: Option<(u16, u16)>,
    ) {
        let read = of_cuda(cuda).map(|version| (version.major, version.minor));
        assert_eq!(read, ptx);
    }
}

//! Linear algebra of `nalgebra`: inverse, LU, QR, SVD, rotations.
#![no_std]

use harness::Words;
use nalgebra::{Matrix2, Matrix3, Point3, UnitQuaternion, Vector3};

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let t = i as f32 * 0.2 + 0.1;
    let m = Matrix3::new(t, 2.0, 0.5, 1.0, t * t, 0.25, -1.0, 3.0, t + 4.0);
    let inverse = m.try_inverse().unwrap_or_else(Matrix3::zeros);
    for value in inverse.iter() {
        out.f32(*value);
    }
    let b = Vector3::new(1.0, t, -1.0);
    let solved = m.lu().solve(&b).unwrap_or_else(Vector3::zeros);
    out.f32(solved.norm());
    out.f32(m.qr().r().trace());
    out.f32(m.symmetric_part().symmetric_eigenvalues().max());
    let svd = m.svd(false, false);
    out.f32(svd.singular_values.sum());
    let turn = UnitQuaternion::from_euler_angles(0.1, t, 0.3);
    let point = turn.transform_point(&Point3::new(1.0, 2.0, 3.0));
    out.f32(point.x);
    out.f32(point.y);
    out.f32(point.z);
    out.f64(Matrix2::new(f64::from(t), 1.0, 2.0, 3.0).determinant());
    out.f32(m.component_mul(&inverse).sum());
}

harness::kernel!(nalgebra_case, 20, case);
